import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useSyncExternalStore } from "react";
import { incidentApi } from "../api/incidents";
import { useLive } from "./live";

const INCIDENTS_EVERY_MS = 10_000;
const AFTER_CHANGE_MS = 1_500; // incidents are opened a moment after the state changes
const GATHERED_MS = 300; // changes of so long are asked for together

const MOST = 100;

/** How often incidents are asked for: never while they are told as they happen. */
export function useIncidentsEvery(): number | false {
  const live = useLive();
  return useSyncExternalStore(live.subscribe, live.tellsIncidents) ? false : INCIDENTS_EVERY_MS;
}

/** How many incidents are open, as text; "" while there are none, or nobody knows. */
export function useOpenIncidents(): string {
  const every = useIncidentsEvery();
  const open = useQuery({
    queryKey: ["incidents", "count"],
    queryFn: () => incidentApi.list({ state: "open", limit: MOST }),
    refetchInterval: every,
    select: (page) => ({ n: page.items.length, more: page.next_cursor !== null }),
  });
  if (!open.data || open.data.n === 0) return "";
  return open.data.more ? `${open.data.n}+` : String(open.data.n);
}

/** Has what is shown of incidents asked for again when they change; without their channel, when a target does. */
export function useIncidentNudge(): void {
  const live = useLive();
  const queries = useQueryClient();
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const soon = (ms: number) => {
      timer ??= setTimeout(() => {
        timer = undefined;
        void queries.invalidateQueries({ queryKey: ["incidents"] });
      }, ms);
    };
    const told = live.onIncidents(() => soon(GATHERED_MS));
    const changed = live.store.onTransition(() => live.tellsIncidents() || soon(AFTER_CHANGE_MS));
    return () => {
      told();
      changed();
      clearTimeout(timer);
    };
  }, [live, queries]);
}
