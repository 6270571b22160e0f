import type { Region } from "../api/types";
import type { Counts } from "../live/store";
import { plural } from "../ui/words";

/** The state of everything in one sentence, worst first. */
export function headline(counts: Counts, total: number): string {
  const watched = total - counts.paused - counts.maintenance;
  if (counts.down > 0) return counts.down === 1 ? "1 target is down" : `${counts.down} targets are down`;
  if (counts.degraded > 0)
    return counts.degraded === 1 ? "1 target is degraded" : `${counts.degraded} targets are degraded`;
  if (counts.no_data > 0)
    return counts.no_data === 1 ? "1 target has no data" : `${counts.no_data} targets have no data`;
  if (watched === 0) {
    if (total === 0) return "Nothing is watched yet";
    return counts.maintenance > 0 ? "Everything is in maintenance" : "Everything is paused";
  }
  if (counts.maintenance > 0)
    return counts.maintenance === 1
      ? "1 target is in maintenance, nothing is wrong"
      : `${counts.maintenance} targets are in maintenance, nothing is wrong`;
  return watched === 1 ? "The target is up" : `All ${watched} targets are up`;
}

export function subline(total: number, regions: readonly Region[]): string {
  const live = regions.filter((region) => region.live).map((region) => region.region);
  if (live.length === 0) return `${plural(total, "target")}. No prober is reporting.`;
  return `${plural(total, "target")}, checked from ${live.join(", ")}`;
}
