import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useMemo } from "react";
import { api } from "../api/endpoints";
import { useLive } from "../app/live";
import { useZone } from "../app/preferences";
import { ownZone } from "../targetform/zones";
import { KeptNote } from "../ui/KeptNote";
import { untilFresh } from "../ui/Stale";
import { count, percent, stateWords } from "../ui/words";
import { locale, t } from "../words/t";
import columns from "./columns.json";
import { FigureCard } from "./FigureCard";
import { badness, calendar } from "./figures";
import { share } from "./words";

const DAYS = 366;
const SIZE = 14;

/** Uptime by day over a year, as a calendar. */
export function YearCard({ id }: { id: number }) {
  const { store } = useLive();
  const [chosen] = useZone();
  const zone = chosen === "utc" ? "UTC" : ownZone();
  const year = useQuery({
    queryKey: ["days", id, zone],
    queryFn: () => {
      const to = store.serverNow();
      return api.days(
        id,
        { from: new Date(to - DAYS * 86_400_000).toISOString(), to: new Date(to).toISOString() },
        zone,
      );
    },
    // A new target has none yet, and soon some.
    refetchInterval: (query) => {
      const some = query.state.data?.periods.some((period) => period.state !== "no_data");
      return untilFresh(some ? 300_000 : 15_000)(query);
    },
  });
  const { data } = year;
  const days = useMemo(() => calendar(data?.periods ?? []), [data]);
  const measured = days.filter((day) => day.state !== null);
  const bad = measured.filter((day) => day.state === "down").length;
  const summary =
    measured.length === 0
      ? t("No day of the last year has results.")
      : t(
          "{n, plural, one {# day} other {# days}} with results in the last year ({zone}): {bad, plural, one {# day} other {# days}} with downtime.",
          { n: measured.length, zone, bad },
        );
  const numbers = data && {
    head: [t("Day"), t("State"), t("Uptime"), t("Downtime minutes"), t("Checks"), t("Coverage")],
    columns: columns.days,
    rows: measured
      .map(({ period, state }) => [
        period.name,
        state ? { shown: stateWords[state], filed: columns.states[state] } : "",
        share(period.folded.uptime, 3),
        period.folded.downtime_minutes,
        period.folded.checks,
        share(period.folded.coverage, 1),
      ])
      .reverse(),
  };
  const weeks = (days.at(-1)?.week ?? 0) + 1;
  return (
    <FigureCard
      title={t("A year of days")}
      file={`target-${id}-days.csv`}
      summary={summary}
      numbers={numbers ?? null}
      query={year}
    >
      <p className="pad-x muted">
        <KeptNote of={data} />
      </p>
      <section
        ref={toTheEnd}
        className="scroll-x year"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
        tabIndex={0}
        dir="ltr"
        aria-label={t("A year of days, as a calendar")}
      >
        <svg
          width={weeks * SIZE + 34}
          height={7 * SIZE + 18}
          viewBox={`0 0 ${weeks * SIZE + 34} ${7 * SIZE + 18}`}
          role="img"
          aria-label={summary}
        >
          {[0, 2, 4, 6].map((day) => (
            <text key={day} x={0} y={18 + (day + 0.75) * SIZE} className="year-text">
              {weekdays.format(Date.UTC(2024, 0, 1 + day))}
            </text>
          ))}
          {days.map(({ period, week, weekday, state }, i) => {
            const x = 34 + week * SIZE;
            const y = 16 + weekday * SIZE;
            const first = period.name.endsWith("-01") || i === 0;
            return (
              <g key={period.name}>
                {first && (i === 0 ? Number(period.name.slice(8)) < 20 : true) && (
                  <text x={x} y={10} className="year-text">
                    {month(period.name)}
                  </text>
                )}
                <Square
                  state={state ?? "none"}
                  parts={state === "down" ? badness(period.folded.downtime_minutes) : undefined}
                  x={x}
                  y={y}
                >
                  <title>
                    {t(
                      "{day}: {state, select, up {Up} degraded {Degraded} down {Down} no_data {No data} other {nothing was due}}, uptime {uptime}, {minutes} min down, {checks, plural, one {# check} other {# checks}}",
                      {
                        day: period.name,
                        state: state ?? "none",
                        uptime: percent(period.folded.uptime, 3),
                        minutes: count(period.folded.downtime_minutes),
                        checks: period.folded.checks,
                      },
                    )}
                  </title>
                </Square>
              </g>
            );
          })}
        </svg>
      </section>
      <ul className="year-legend" aria-hidden>
        {legend.map(([state, word, parts]) => (
          <li key={word}>
            <svg width="14" height="14" viewBox="-1 -1 14 14" aria-hidden>
              <Square state={state} parts={parts} />
            </svg>
            {word}
          </li>
        ))}
      </ul>
    </FigureCard>
  );
}

const legend: [state: string, word: string, parts?: 1 | 2 | 3][] = [
  ["up", t("Up")],
  ["degraded", t("Degraded")],
  ["down", t("Down for less than 5 min"), 1],
  ["down", t("Down for less than an hour"), 2],
  ["down", t("Down for an hour or more"), 3],
  ["no_data", t("Less than half measured")],
  ["none", t("Nothing due")],
];

/** A day, told by its shape and not by its colour alone. */
function Square({
  state,
  parts,
  x = 0,
  y = 0,
  children,
}: {
  state: string;
  /** Of a day with downtime: how much of it is filled. */
  parts?: 1 | 2 | 3 | undefined;
  x?: number;
  y?: number;
  children?: ReactNode;
}) {
  return (
    <>
      <rect x={x} y={y} width={12} height={12} rx={2} className={`d-${state}`}>
        {children}
      </rect>
      {parts && <rect x={x} y={y + 12 - 4 * parts} width={12} height={4 * parts} rx={2} className="d-part" />}
      {parts === 3 && <path d={`M${x + 3} ${y + 3}l6 6m0-6l-6 6`} className="d-mark" />}
      {state === "degraded" && <path d={`M${x + 6} ${y + 2.5}v4.5m0 2.2v.3`} className="d-mark" />}
    </>
  );
}

/** On a narrow screen the newest days are seen first. */
const toTheEnd = (node: HTMLElement | null) => {
  if (node) node.scrollLeft = node.scrollWidth;
};

const weekdays = new Intl.DateTimeFormat(locale(), { weekday: "short", timeZone: "UTC" });
const months = new Intl.DateTimeFormat(locale(), { month: "short", timeZone: "UTC" });
const month = (day: string): string => months.format(new Date(`${day}T00:00:00Z`));
