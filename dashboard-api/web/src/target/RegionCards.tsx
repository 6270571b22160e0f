import type { TargetView } from "../live/store";
import { regionStateOf } from "../ui/RegionDots";
import { StateIcon } from "../ui/StateIcon";
import { Ago } from "../ui/time";
import { explain, latency, stateWords, tellingStatus } from "../ui/words";
import { t } from "../words/t";
import { inSentence } from "./words";

/** Each region's newest measurement, and whether it still counts. */
export function RegionCards({ target }: { target: TargetView }) {
  return (
    <section className="card" aria-labelledby="regions">
      <div className="card-head">
        <h2 id="regions">{t("Regions")}</h2>
      </div>
      {target.region_states.length === 0 ? (
        <p className="pad muted">{t("No region has reported yet.")}</p>
      ) : (
        <ul className="region-list">
          {[...target.region_states]
            .sort((a, b) => (a.region < b.region ? -1 : 1))
            .map((region) => {
              const state = regionStateOf(region, target.state);
              const why = explain(region.failure, region.reason, tellingStatus(target.kind, region.http_status));
              return (
                <li key={region.region}>
                  <StateIcon state={state} size={20} />
                  <div>
                    <b>{region.region}</b>
                    <p className="muted">
                      {!region.fresh
                        ? t("Stopped reporting")
                        : why
                          ? t("{state}: {why}", { state: stateWords[state], why: inSentence(why) })
                          : stateWords[state]}
                    </p>
                  </div>
                  <div className="push right">
                    {latency(region.total_us)}
                    <p className="muted">
                      <Ago at={region.checked_at ?? region.scheduled_at} />
                    </p>
                  </div>
                </li>
              );
            })}
        </ul>
      )}
    </section>
  );
}
