import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { incidentApi } from "../api/incidents";
import { useLive } from "./live";

export const INCIDENTS_EVERY_MS = 10_000;
const AFTER_CHANGE_MS = 1_500; // incidents are opened a moment after the state changes

const MOST = 100;

/** How many incidents are open, as text; "" while there are none, or nobody knows. */
export function useOpenIncidents(): string {
  const open = useQuery({
    queryKey: ["incidents", "count"],
    queryFn: () => incidentApi.list({ state: "open", limit: MOST }),
    refetchInterval: INCIDENTS_EVERY_MS,
    select: (page) => ({ n: page.items.length, more: page.next_cursor !== null }),
  });
  if (!open.data || open.data.n === 0) return "";
  return open.data.more ? `${open.data.n}+` : String(open.data.n);
}

/** Incidents have no channel of their own: what is shown of them is asked for again when a target changes. */
export function useIncidentNudge(): void {
  const { store } = useLive();
  const queries = useQueryClient();
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const stop = store.onTransition(() => {
      timer ??= setTimeout(() => {
        timer = undefined;
        void queries.invalidateQueries({ queryKey: ["incidents"] });
      }, AFTER_CHANGE_MS);
    });
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [store, queries]);
}
