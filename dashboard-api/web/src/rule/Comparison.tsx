import { TriangleAlert } from "lucide-react";
import type { Replay, ReplayedIncident, ReplayedPolicy } from "../api/policy";
import { Clock } from "../ui/time";
import { count, duration } from "../ui/words";
import { Rich } from "../words/Rich";
import { t } from "../words/t";
import { sideBySide, verdictOf } from "./rule";

const shownRows = 25;

/** Both rules beside each other: figures, a strip of when each would have paged, and the outages. */
export function Comparison({ replay, outdated }: { replay: Replay; outdated: boolean }) {
  const tried = replay.targets[0];
  if (!tried?.results_since) {
    return (
      <p className="pad muted">
        <Rich
          text="Nothing was measured in this time. Results are kept since {since}."
          since={<Clock at={replay.kept_since} dated />}
        />
      </p>
    );
  }
  const { current, proposed } = tried;
  const short = Date.parse(tried.from) - Date.parse(replay.from) > 3_600_000;
  const begin = tried.results_since > tried.from ? tried.results_since : tried.from;
  const rows = sideBySide(current, proposed, replay.to);
  return (
    <div data-compared>
      <div className="card-head">
        <h2>{verdictOf(current, proposed)}</h2>
        <span className="muted">
          <Rich
            text="{n, plural, one {# result} other {# results}} since {since}"
            n={tried.results}
            since={<Clock at={tried.results_since} dated />}
          />
        </span>
      </div>
      {(outdated || short) && (
        <div className="rule-notes">
          {outdated && (
            <div className="banner warn">
              <TriangleAlert size={16} aria-hidden />
              <p>{t("The rule above has changed since. Try it again.")}</p>
            </div>
          )}
          {short && (
            <div className="banner">
              <p>
                <Rich
                  text="Replayed from {from} on: older results are not kept, or had another interval."
                  from={<Clock at={tried.from} dated />}
                />
              </p>
            </div>
          )}
        </div>
      )}
      <table className="rule-figures">
        <thead>
          <tr>
            <td />
            <th scope="col" className="num">
              {t("Rule of now")}
            </th>
            <th scope="col" className="num">
              {t("This rule")}
            </th>
          </tr>
        </thead>
        <tbody>
          <Line word={t("Pages")} of={(p) => count(p.pages)} {...{ current, proposed }} />
          <Line word={t("False alarms")} of={(p) => count(p.false_alarms)} {...{ current, proposed }} />
          <Line word={t("Usual delay")} of={(p) => delay(p.delay_p50_s)} {...{ current, proposed }} />
          <Line word={t("Longest delay")} of={(p) => delay(p.delay_most_s)} {...{ current, proposed }} />
          <Line word={t("Incidents")} of={(p) => count(p.incidents)} {...{ current, proposed }} />
          <Line word={t("Downtime")} of={(p) => duration(p.downtime_s)} {...{ current, proposed }} />
        </tbody>
      </table>
      <div className="rule-strips">
        <Strip label={t("Now")} of={current} from={begin} to={replay.to} />
        <Strip label={t("This rule")} of={proposed} from={begin} to={replay.to} />
        <p className="row spread muted" dir="ltr">
          <span dir="auto">
            <Clock at={begin} dated />
          </span>
          <span dir="auto">
            <Clock at={replay.to} dated />
          </span>
        </p>
      </div>
      {rows.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls sideways on narrow screens
        <section className="scroll-x" aria-label={t("Outages")} tabIndex={0}>
          <table>
            <thead>
              <tr>
                <th scope="col">{t("Outage")}</th>
                <th scope="col">{t("Lasted")}</th>
                <th scope="col">{t("Now")}</th>
                <th scope="col">{t("This rule")}</th>
              </tr>
            </thead>
            <tbody>
              {rows.slice(0, shownRows).map((row) => (
                <tr key={row.at}>
                  <td>
                    <Clock at={row.at} dated />
                  </td>
                  <td>{lasted(row.now ?? row.proposed, replay.to)}</td>
                  <td>
                    <Page of={row.now} />
                  </td>
                  <td>
                    <Page of={row.proposed} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
      {rows.length > shownRows && (
        <p className="pad muted">
          {t("and {n, plural, one {# earlier one} other {# earlier ones}}", { n: rows.length - shownRows })}
        </p>
      )}
    </div>
  );
}

function Line(props: {
  word: string;
  of: (p: ReplayedPolicy) => string;
  current: ReplayedPolicy;
  proposed: ReplayedPolicy;
}) {
  const [now, then] = [props.of(props.current), props.of(props.proposed)];
  return (
    <tr>
      <th scope="row">{props.word}</th>
      <td className="num">{now}</td>
      <td className="num">{now === then ? then : <b>{then}</b>}</td>
    </tr>
  );
}

const delay = (seconds: number | null): string => (seconds === null ? "–" : duration(seconds));

function lasted(incident: ReplayedIncident | null, to: string): string {
  if (!incident) return "–";
  const text = duration((Date.parse(incident.ended_at ?? to) - Date.parse(incident.began_at)) / 1000);
  return incident.ended_at ? text : t("{time}, still open", { time: text });
}

/** How soon somebody would have been paged. */
function Page({ of }: { of: ReplayedIncident | null }) {
  if (!of) return <span className="muted">{t("no incident")}</span>;
  if (!of.paged_at) return <span className="muted">{t("nobody paged")}</span>;
  const after = duration((Date.parse(of.paged_at) - Date.parse(of.began_at)) / 1000);
  return (
    <>
      {t("paged after {time}", { time: after })}
      {of.false_alarm && <span className="tag">{t("false alarm")}</span>}
    </>
  );
}

/** When a rule would have paged: a tall mark is a page, a broken one a false alarm, a low one an incident nobody heard of. */
function Strip({ label, of, from, to }: { label: string; of: ReplayedPolicy; from: string; to: string }) {
  const begin = Date.parse(from);
  const length = Math.max(1, Date.parse(to) - begin);
  const x = (at: string) => Math.min(998, Math.max(2, ((Date.parse(at) - begin) / length) * 1000));
  return (
    <div className="rule-strip">
      <span>{label}</span>
      <svg
        viewBox="0 0 1000 24"
        preserveAspectRatio="none"
        role="img"
        aria-label={t("{rule}: {pages, plural, other {# pages}}, {alarms, plural, other {# of them false alarms}}", {
          rule: label,
          pages: of.pages,
          alarms: of.false_alarms,
        })}
      >
        <path className="base" d="M0 23.5h1000" />
        {of.items.map((one) => (
          <path
            key={one.first_slot}
            className={one.paged_at ? (one.false_alarm ? "false" : "page") : "quiet"}
            d={`M${x(one.paged_at ?? one.first_slot)} ${one.paged_at ? 2 : 14}V23`}
          />
        ))}
      </svg>
    </div>
  );
}
