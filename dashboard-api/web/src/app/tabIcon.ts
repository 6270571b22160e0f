import type { State } from "../api/types";

/** Which icon the tab has: green is only what is known to be well. */
export function tabIcon(counts: Readonly<Record<State, number>>, live: boolean): string {
  if (!live) return "stale";
  if (counts.down > 0) return `down-${counts.down > 9 ? "many" : counts.down}`;
  if (counts.degraded > 0) return "degraded";
  return counts.up > 0 && counts.no_data === 0 ? "ok" : "stale";
}
