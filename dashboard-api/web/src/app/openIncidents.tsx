import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useSyncExternalStore } from "react";
import { type Incident, incidentApi } from "../api/incidents";
import { useAsOf } from "../ui/AsOf";
import type { Asked } from "../ui/present";
import { useLink, useLive } from "./live";

const INCIDENTS_EVERY_MS = 10_000;
const AFTER_CHANGE_MS = 1_500; // incidents are opened a moment after the state changes
const GATHERED_MS = 300; // changes of so long are asked for together

const MOST = 100;
const none: readonly Incident[] = [];

/** How often incidents are asked for: never while they are told as they happen. */
export function useIncidentsEvery(): number | false {
  const live = useLive();
  return useSyncExternalStore(live.subscribe, live.tellsIncidents) ? false : INCIDENTS_EVERY_MS;
}

/** Of when incidents are that are not the present any more; null while they are. */
export function useIncidentsAsOf(asked: Asked): number | null {
  const every = useIncidentsEvery();
  const link = useLink();
  // Until it was cut off every change was told.
  return useAsOf(asked, every, link.kind === "reconnecting" || link.kind === "polling" ? link.since : 0);
}

/**
 * The open incidents, the newest first, and how many they are as text: "" while there are none, or nobody knows (not known).
 * `asOf` is when they were so, once they are not the present any more: then nobody knows either.
 */
export function useOpenIncidents(): { n: string; items: readonly Incident[]; known: boolean; asOf: number | null } {
  const every = useIncidentsEvery();
  const open = useQuery({
    queryKey: ["incidents", "count"],
    queryFn: () => incidentApi.list({ state: "open", limit: MOST }),
    refetchInterval: every,
    refetchOnWindowFocus: every !== false,
  });
  const asOf = useIncidentsAsOf(open);
  const { items = none, next_cursor: next = null } = open.data ?? {};
  const n = next === null ? String(items.length) : `${items.length}+`;
  return { n: items.length === 0 ? "" : n, items, known: open.data !== undefined && asOf === null, asOf };
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
