import type { Zone } from "../app/preferences";
import { maintained } from "../live/history";
import type { TargetView } from "../live/store";
import { absolute } from "../ui/time";
import { explain, latency, statusWords } from "../ui/words";
import { t } from "../words/t";
import columns from "./columns.json";
import type { Numbers } from "./FigureCard";

/** What the bar of a target says, each region of each slot, the newest first. A ping comes from no region. */
export function numbersOf(
  { kind, slots, maintained: when }: Pick<TargetView, "kind" | "slots" | "maintained">,
  zone: Zone,
): Numbers {
  const beats = kind === "heartbeat";
  const kept = <C>(row: C[]): C[] => (beats ? row.toSpliced(1, 1) : row);
  return {
    head: kept([t("When"), t("Region"), t("State"), t("Took"), t("Reason")]),
    columns: kept(columns.ticks),
    rows: maintained(slots, when)
      .toReversed()
      .flatMap(({ at, mark, cells }) =>
        cells.map(({ region, status, totalUs, failure, reason }) => {
          const why = beats && failure === "timeout" ? t("No ping came in time") : explain(failure, reason);
          const excused = mark === "maintenance";
          const said = t("In maintenance");
          return kept([
            { shown: absolute(at, zone), filed: new Date(at).toISOString() },
            region,
            { shown: statusWords[status], filed: columns.states[status] },
            totalUs > 0 ? { shown: latency(totalUs), filed: String(Math.round(totalUs / 10) / 100) } : null,
            {
              shown: excused && why ? t("{said}. {why}", { said, why }) : excused ? said : why,
              filed: [excused ? "maintenance" : "", failure || reason].filter(Boolean).join(" "),
            },
          ]);
        }),
      ),
  };
}
