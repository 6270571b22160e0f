import type { RegionState, State } from "../api/types";
import { t } from "../words/t";
import { StateIcon } from "./StateIcon";
import { explain, latency, stateOfStatus, stateWords, tellingStatus } from "./words";

const shownAtMost = 5;

/** What a region says of a target; what goes wrong while the target is maintained was expected. */
export function regionStateOf(region: RegionState, target: State): State {
  const state = region.fresh ? stateOfStatus(region.status) : "no_data";
  return target === "maintenance" && state !== "up" ? "maintenance" : state;
}

/** One small state icon per region; a silent region is no data. */
export function RegionDots({
  kind,
  state: whole,
  regions,
}: {
  kind: string;
  /** Of the target. */
  state: State;
  regions: readonly RegionState[];
}) {
  if (regions.length === 0) return <span className="muted">–</span>;
  const rest = regions.length - shownAtMost;
  return (
    <ul className="dots" aria-label={t("Regions")}>
      {regions.slice(0, shownAtMost).map((region) => {
        const state = regionStateOf(region, whole);
        const why = explain(region.failure, region.reason, tellingStatus(kind, region.http_status));
        const detail = region.fresh ? why || latency(region.total_us) : t("not reporting");
        const said = { region: region.region, state: stateWords[state] };
        return (
          <li key={region.region} title={t("{region}: {state}, {detail}", { ...said, detail })}>
            <StateIcon state={state} size={14} />
            <span className="sr">{t("{region}: {state}", said)}</span>
          </li>
        );
      })}
      {rest > 0 && <li className="muted">+{rest}</li>}
    </ul>
  );
}
