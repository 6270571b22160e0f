import { useQuery } from "@tanstack/react-query";
import { ArrowRight } from "lucide-react";
import { changesOf, type RegionChanges } from "../api/changes";
import type { Incident } from "../api/incidents";
import { useZone } from "../app/preferences";
import { ChangeLine } from "../ui/ChangeLine";
import { ErrorNote } from "../ui/ErrorNote";
import { CopyNote, untilFresh } from "../ui/Stale";
import { Clock } from "../ui/time";
import { explain } from "../ui/words";
import { Rich } from "../words/Rich";
import { t } from "../words/t";
import { gapsOf, missingWords, onlyFailed, rowsOf } from "./changes";

const OPEN_MS = 60_000; // more regions may fail
const OVER_MS = 3_600_000;

/** What differs between the last good and the first bad check, region by region. */
export function ChangesCard({ incident }: { incident: Incident }) {
  const changes = useQuery({
    queryKey: ["results", incident.target_id, "changes", incident.id],
    queryFn: () => changesOf(incident.id),
    refetchInterval: untilFresh(incident.state === "resolved" ? OVER_MS : OPEN_MS),
    staleTime: OPEN_MS,
  });
  const missing = changes.data ? missingWords(changes.data) : "";
  return (
    <section className={changes.isPending ? "card holds" : "card"} aria-labelledby="what-changed">
      <div className="card-head">
        <h2 id="what-changed">{t("What changed")}</h2>
        <span className="muted">
          {t("between the last good and the first bad check")} <CopyNote of={changes.data} />
        </span>
      </div>
      {changes.error && !changes.data && <ErrorNote error={changes.error} onRetry={() => void changes.refetch()} />}
      {changes.isPending && <div className="skeleton chart-skeleton" />}
      {missing && <p className="pad muted">{missing}</p>}
      {changes.data?.regions.map((region) => (
        <Region key={region.region} region={region} kind={incident.target.kind} />
      ))}
    </section>
  );
}

function Region({ region, kind }: { region: RegionChanges; kind: string }) {
  const [zone] = useZone();
  const { good, bad } = region;
  const gaps = gapsOf(region.unknown);
  return (
    <section className="changes" aria-label={region.region} data-region={region.region}>
      <div className="changes-head">
        <h3>{region.region}</h3>
        <p className="muted">
          {good && (
            <>
              <span>
                <Rich text="good {at}" at={<Clock at={good.scheduled_at} dated />} />
              </span>
              <ArrowRight size={13} aria-label={t("then")} />
            </>
          )}
          <span>
            <Rich text="failed {at}" at={<Clock at={bad.scheduled_at} dated />} />
          </span>
        </p>
      </div>
      {good ? (
        <ul className="changes-list">
          {rowsOf(region, kind, zone).map((row) => (
            <ChangeLine key={row.key} row={row} />
          ))}
        </ul>
      ) : (
        <p className="changes-note">
          {t("{failure}. There is no good check in the week before it to compare with.", {
            failure: explain(bad.failure, "", bad.http_status) || t("It failed"),
          })}
        </p>
      )}
      {good && onlyFailed(region) && (
        <p className="changes-note muted">{t("Nothing else that is compared was different.")}</p>
      )}
      {gaps.map((gap) => (
        <p key={gap} className="changes-note muted">
          {gap}
        </p>
      ))}
    </section>
  );
}
