import type { Region } from "../api/types";
import type { Counts } from "../live/store";
import { listed } from "../ui/words";
import { t } from "../words/t";

/** The state of everything in one sentence, worst first. */
export function headline(counts: Counts, total: number): string {
  const watched = total - counts.paused - counts.maintenance;
  if (counts.down > 0) return t("{n, plural, one {# target is down} other {# targets are down}}", { n: counts.down });
  if (counts.degraded > 0)
    return t("{n, plural, one {# target is degraded} other {# targets are degraded}}", { n: counts.degraded });
  if (counts.no_data > 0)
    return t("{n, plural, one {# target has no data} other {# targets have no data}}", { n: counts.no_data });
  if (watched === 0) {
    if (total === 0) return t("Nothing is watched yet");
    return counts.maintenance > 0 ? t("Everything is in maintenance") : t("Everything is paused");
  }
  if (counts.maintenance > 0)
    return t(
      "{n, plural, one {# target is in maintenance, nothing is wrong} other {# targets are in maintenance, nothing is wrong}}",
      { n: counts.maintenance },
    );
  return t("{n, plural, one {The target is up} other {All # targets are up}}", { n: watched });
}

export function subline(total: number, regions: readonly Region[]): string {
  const live = regions.filter((region) => region.live).map((region) => region.region);
  if (live.length === 0)
    return t("{n, plural, one {# target} other {# targets}}. No prober is reporting.", { n: total });
  return t("{n, plural, one {# target, checked from {regions}} other {# targets, checked from {regions}}}", {
    n: total,
    regions: listed(live),
  });
}
