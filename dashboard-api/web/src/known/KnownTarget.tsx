import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ChevronLeft } from "lucide-react";
import { type KnownTarget as Known, type KnownRegion, knownApi } from "../api/known";
import { iconOf, severityWord, stateWord } from "../incidents/words";
import { inSentence } from "../target/words";
import { ErrorNote } from "../ui/ErrorNote";
import { StateIcon } from "../ui/StateIcon";
import { Ticks } from "../ui/Ticks";
import { Clock } from "../ui/time";
import { whyWords } from "../ui/why";
import { duration, explain, latency, listed, stateOfStatus, stateWords, tellingStatus } from "../ui/words";
import { Rich } from "../words/Rich";
import { t } from "../words/t";
import { Frozen, Limits } from "./AsKnownAt";
import { laterOf, readable, slotsOf } from "./at";
import { useTargetAt } from "./ways";
import "../styles/target.css";
import "../styles/incidents.css";

const LATER = 20; // more are counted

/** A target as it was known at an instant: nothing here moves. */
export function KnownTarget({ id, at }: { id: number; at: string }) {
  const go = useTargetAt(id);
  const known = useQuery({
    queryKey: ["known", "target", id, at],
    queryFn: ({ signal }) => knownApi.target(id, at, signal),
    retry: false,
    enabled: readable(at),
  });
  return (
    <div className="page">
      <Link to="/" className="back">
        <ChevronLeft size={16} aria-hidden /> {t("Overview")}
      </Link>
      {!known.data && <h1 className="sr">{t("As known at…")}</h1>}
      <Frozen at={at} onAt={go} />
      {known.data ? (
        <Told known={known.data} />
      ) : known.error ? (
        <ErrorNote error={known.error} onRetry={() => void known.refetch()} />
      ) : (
        readable(at) && <div className="skeleton page-skeleton" />
      )}
    </div>
  );
}

function Told({ known }: { known: Known }) {
  const { target, state } = known;
  const slots = slotsOf(known.slots);
  const first = known.slots[0];
  const last = known.slots.at(-1);
  return (
    <>
      <div className="target-head">
        <StateIcon state={state} size={40} />
        <div className="title">
          <h1>{target.name}</h1>
          <p className="verdict" data-state={state}>
            <b className={`word s-${state}`}>{stateWords[state]}</b>
            {known.since && (
              <>
                {" "}
                <Rich
                  text="for {duration}, since {at}"
                  duration={duration((Date.parse(known.at) - Date.parse(known.since)) / 1000)}
                  at={<Clock at={known.since} dated />}
                />
              </>
            )}
            {known.why && <span className="why"> · {whyWords(known.why, known.because)}</span>}
          </p>
          <p className="muted">
            {target.regions.length > 0
              ? t("checked every {interval}, from {regions}", {
                  interval: duration(target.interval_s),
                  regions: listed(target.regions),
                })
              : t("checked every {interval}, from every region", { interval: duration(target.interval_s) })}
          </p>
        </div>
      </div>
      <section className="card strip-card" aria-label={t("The 90 checks before")}>
        <Ticks slots={slots} maintained={known.maintained} height={40} />
        {first && last ? (
          <p className="row spread muted">
            <Clock at={first.at} dated />
            <Clock at={last.at} dated />
          </p>
        ) : (
          <p className="muted">{t("Nothing was known of any check.")}</p>
        )}
      </section>
      <div className="columns-2">
        <Regions regions={known.region_states} kind={target.kind} />
        <Incidents known={known} />
      </div>
      <Later known={known} />
      <Limits limits={known.limits} />
    </>
  );
}

function Regions({ regions, kind }: { regions: readonly KnownRegion[]; kind: string }) {
  return (
    <section className="card" aria-labelledby="known-regions">
      <div className="card-head">
        <h2 id="known-regions">{t("Regions")}</h2>
      </div>
      {regions.length === 0 && <p className="pad muted">{t("No region had reported.")}</p>}
      <ul className="region-list">
        {regions.map((one) => {
          const state = one.fresh ? stateOfStatus(one.status) : "no_data";
          const why = explain(one.failure, "", tellingStatus(kind, one.http_status));
          return (
            <li key={one.region}>
              <StateIcon state={state} size={20} />
              <div>
                <b>{one.region}</b>
                <p className="muted">
                  {one.fresh
                    ? why
                      ? t("{name}: {state}", { name: stateWords[state], state: inSentence(why) })
                      : stateWords[state]
                    : t("Had stopped reporting")}
                </p>
              </div>
              <div className="push right">
                {latency(one.total_us)}
                <p className="muted">
                  <Clock at={one.scheduled_at} dated={!one.fresh} />
                </p>
              </div>
            </li>
          );
        })}
      </ul>
    </section>
  );
}

function Incidents({ known }: { known: Known }) {
  return (
    <section className="card" aria-labelledby="known-incidents">
      <div className="card-head">
        <h2 id="known-incidents">{t("Incidents known then")}</h2>
      </div>
      {known.incidents.length === 0 && <p className="pad muted">{t("None had been found.")}</p>}
      <ul className="incidents">
        {known.incidents.map((incident) => (
          <li key={incident.id} className="incident">
            <StateIcon state={iconOf(incident)} size={20} />
            <div>
              <Link to="/incidents/$id" params={{ id: String(incident.id) }} className="incident-link">
                {t("{severity} for {duration}", {
                  severity: severityWord(incident.severity),
                  duration: duration(incident.duration_s),
                })}
              </Link>
              <p className="incident-why">{whyWords(incident.explanation, incident.because)}</p>
              <p className="incident-meta">
                <span>{stateWord[incident.state]}</span>
                <span>
                  <Rich text="found {at}" at={<Clock at={incident.opened_at} dated />} />
                </span>
              </p>
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Later({ known }: { known: Known }) {
  const all = laterOf(known.slots);
  if (all.length === 0) return null;
  return (
    <section className="card" aria-labelledby="known-later">
      <div className="card-head">
        <h2 id="known-later">{t("Told later of these checks")}</h2>
        <span className="muted push">{t("{n, plural, one {# result} other {# results}}", { n: all.length })}</span>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a table that is wider than the page is scrolled by keys, too */}
      <section className="scroll-x" tabIndex={0} aria-label={t("Table of these checks")}>
        <table>
          <thead>
            <tr>
              <th scope="col">{t("Check")}</th>
              <th scope="col">{t("Region")}</th>
              <th scope="col">{t("Then")}</th>
              <th scope="col">{t("Told")}</th>
            </tr>
          </thead>
          <tbody>
            {all.slice(0, LATER).map((one) => (
              <tr key={`${one.at} ${one.region}`}>
                <td>
                  <Clock at={one.at} dated />
                </td>
                <td>{one.region}</td>
                <td>{t(one.revised ? "Known, revised later" : "Not known then")}</td>
                <td>
                  <Clock at={one.laterAt} dated />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {all.length > LATER && <p className="pad muted">{t("The newest {n} are listed.", { n: LATER })}</p>}
    </section>
  );
}
