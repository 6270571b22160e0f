import { useQuery } from "@tanstack/react-query";
import { type KnownPage as Known, type KnownDay, knownApi } from "../api/known";
import type { PageState } from "../api/statusPages";
import { inSentence, plain } from "../target/words";
import { ErrorNote } from "../ui/ErrorNote";
import { StateIcon } from "../ui/StateIcon";
import { Clock } from "../ui/time";
import { listed, stateWords } from "../ui/words";
import { Rich } from "../words/Rich";
import { t } from "../words/t";
import { Frozen, Limits } from "./AsKnownAt";
import { daysWord, readable } from "./at";
import { usePageAt } from "./ways";

/** What a status page said at an instant, as it was known then. */
export function KnownPage({ id, at }: { id: number; at: string }) {
  const go = usePageAt(id);
  const known = useQuery({
    queryKey: ["known", "page", id, at],
    queryFn: ({ signal }) => knownApi.page(id, at, signal),
    retry: false,
    enabled: readable(at),
  });
  return (
    <>
      <Frozen at={at} onAt={go} />
      {known.data ? (
        <Told known={known.data} />
      ) : known.error ? (
        <ErrorNote error={known.error} onRetry={() => void known.refetch()} />
      ) : (
        readable(at) && <div className="skeleton page-skeleton" />
      )}
    </>
  );
}

function Told({ known }: { known: Known }) {
  const saidSince = known.limits.some((limit) => limit.code === "page_changed");
  return (
    <>
      <section className="card" aria-labelledby="known-page">
        <div className="card-head">
          {known.state && <StateIcon state={known.state} size={26} />}
          <h2 id="known-page">
            {t("{name}: {state}", {
              name: known.title,
              state: known.state ? inSentence(stateWords[known.state]) : t("nothing was shown"),
            })}
          </h2>
        </div>
        {known.groups.map((group, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: groups have no other name that is their own
          <div key={i} className="known-group">
            {group.name && <h3>{group.name}</h3>}
            <ul>
              {group.components.map((one) => (
                <li key={one.id} className="known-component">
                  <StateIcon state={one.state} size={20} />
                  <b>{one.name}</b>
                  <span className={`word s-${one.state}`}>{stateWords[one.state]}</span>
                  <span className="muted push">
                    {one.manual
                      ? saidSince
                        ? t("said by hand: what was said then is not kept")
                        : t("said by hand, as it is now")
                      : one.uptime_percent && t("{n}%", { n: plain(Number(one.uptime_percent)) })}
                  </span>
                  {one.days.length > 0 && <Days days={one.days} />}
                </li>
              ))}
            </ul>
          </div>
        ))}
      </section>
      <Said known={known} />
      {known.maintenance.length > 0 && (
        <section className="card" aria-labelledby="known-windows">
          <div className="card-head">
            <h2 id="known-windows">{t("Maintenance known then")}</h2>
          </div>
          <ul className="known-list">
            {known.maintenance.map((one) => (
              <li key={`${one.name} ${one.from}`}>
                <b>{one.name}</b>
                <p className="muted">
                  <Rich
                    text={one.active ? "{from} to {to}, under way" : "{from} to {to}"}
                    from={<Clock at={one.from} dated />}
                    to={<Clock at={one.to} dated />}
                  />{" "}
                  · {listed(one.components)}
                </p>
              </li>
            ))}
          </ul>
        </section>
      )}
      <Limits limits={known.limits} />
    </>
  );
}

function Said({ known }: { known: Known }) {
  return (
    <section className="card" aria-labelledby="known-events">
      <div className="card-head">
        <h2 id="known-events">{t("Said by then")}</h2>
      </div>
      {known.events.length === 0 && <p className="pad muted">{t("Nothing in the two weeks before.")}</p>}
      <ul className="known-list">
        {known.events.map((event) => (
          <li key={event.id}>
            <b>{event.title || t("Incident: {components}", { components: listed(event.components) })}</b>
            <p className="muted">
              <Rich
                text="{state, select, announcement {Announcement} investigating {Investigating} identified {Identified} monitoring {Monitoring} resolved {Resolved} other {{state}}}, begun {at}"
                state={event.kind === "announcement" && event.state !== "resolved" ? "announcement" : event.state}
                at={<Clock at={event.begun_at} dated />}
              />
            </p>
            {event.updates.map((update) => (
              <p key={update.at} className="known-said">
                {update.text}
                <span className="muted">
                  {" "}
                  <Clock at={update.at} dated />
                </span>
              </p>
            ))}
          </li>
        ))}
      </ul>
    </section>
  );
}

// Told apart by shape, as bars of checks are.
const shapes: Record<PageState, (x: number) => string> = {
  up: (x) => `M${x + 0.6} 1h2.6v26h-2.6z`,
  degraded: (x) => `M${x + 0.6} 1h2.6v13h-2.6z`,
  down: (x) => `M${x + 0.1} 12h3.7v16h-3.7z`,
  maintenance: (x) => `M${x + 0.3} 9h3.2v10h-3.2z`,
  no_data: (x) => `M${x + 1.6} 1h.8v26h-.8z`,
};

function Days({ days }: { days: readonly KnownDay[] }) {
  return (
    <svg
      className="ticks known-days"
      viewBox={`0 0 ${days.length * 4} 28`}
      height={24}
      preserveAspectRatio="none"
      role="img"
      aria-label={daysWord(days)}
    >
      {days.map((day, i) => (
        <path
          key={day.name}
          className={day.state === "no_data" ? "t-none" : `t-${day.state}`}
          d={shapes[day.state](i * 4)}
        />
      ))}
    </svg>
  );
}
