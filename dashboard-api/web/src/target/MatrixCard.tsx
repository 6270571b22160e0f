import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { api } from "../api/endpoints";
import type { Matrix } from "../api/figures";
import { useLive } from "../app/live";
import { useZone } from "../app/preferences";
import type { Range } from "../app/router";
import { untilFresh } from "../ui/Stale";
import { absolute } from "../ui/time";
import { count, latency, listed, stateWords } from "../ui/words";
import { t } from "../words/t";
import columns from "./columns.json";
import { FigureCard, type Numbers } from "./FigureCard";
import { cellOf, ends } from "./figures";
import { spanSeconds } from "./phases";
import { widening } from "./widening";
import { asked as spanOf, stepped, type Zoom, zoomStep } from "./zoom";

// About sixty steps, of which the figures are kept: whole hours over two days, whole days over 45.
const steps: Record<Range, number> = {
  "1h": 60,
  "6h": 360,
  "24h": 1800,
  "7d": 10_800,
  "30d": 43_200,
  "90d": 86_400,
};

/** What each region saw, step by step. */
export function MatrixCard({
  id,
  range,
  zoom,
  intervalS,
  regions,
}: {
  id: number;
  range: Range;
  zoom: Zoom | null;
  intervalS: number;
  /** Those that have a row while none is known to have results. */
  regions: readonly string[];
}) {
  const step = zoom ? zoomStep(zoom, intervalS, 60) : Math.max(steps[range], Math.ceil(intervalS / 60) * 60);
  const { store } = useLive();
  const [zone] = useZone();
  const matrix = useQuery({
    queryKey: ["matrix", id, range, step, zoom],
    queryFn: () => {
      if (zoom) return widening(step, (wide) => api.matrix(id, spanOf(stepped(zoom, wide)), wide));
      const to = Math.ceil(store.serverNow() / 1000 / step) * step;
      const from = to - spanSeconds[range];
      return api.matrix(id, spanOf({ from, to }), step);
    },
    refetchInterval: untilFresh(30_000),
    placeholderData: keepPreviousData,
  });
  const { data } = matrix;
  const x = data?.x ?? [];
  const span = ends(x, data?.step_s ?? step);
  const numbers = useMemo(() => (data ? numbersOf(data) : null), [data]);
  const trouble = data?.items.filter((row) => row.down.some((n) => n > 0)).map((row) => row.region) ?? [];
  const summary = !data?.items.length
    ? t("No region has results in this range.")
    : trouble.length === 0
      ? t("{n, plural, one {# region} other {# regions}}; none found it down.", { n: data.items.length })
      : t("{n, plural, one {# region} other {# regions}}; found down from {regions}.", {
          n: data.items.length,
          regions: listed(trouble),
        });
  const picture = (
    <>
      {(data?.items.length ? data.items : regions.map(unseen)).map((row) => (
        <div key={row.region} className="matrix-row">
          <span className="cut" title={row.region}>
            {row.region}
          </span>
          <svg viewBox={`0 0 ${x.length * 10} 24`} preserveAspectRatio="none" aria-hidden>
            {x.map((at, i) => {
              const cell = cellOf(row, i);
              if (cell.state === null) return null;
              const { y, height, width } = shapes[cell.state];
              return (
                <rect
                  key={at}
                  x={i * 10 + (10 - width) / 2}
                  y={y}
                  width={width}
                  height={height}
                  className={`m-${cell.state}`}
                >
                  <title>
                    {t(
                      "{region}, {time}: {state, select, up {up} degraded {degraded} down {down} other {no data}}, {down} of {checks} down, {missing} without data, median {median}",
                      {
                        region: row.region,
                        time: absolute(at * 1000, zone),
                        state: cell.state,
                        down: count(cell.down),
                        checks: count(cell.checks),
                        missing: count(cell.missing),
                        median: latency(cell.p50),
                      },
                    )}
                  </title>
                </rect>
              );
            })}
          </svg>
        </div>
      ))}
      <div className="matrix-row muted">
        <span />
        <div className="row spread" dir="ltr">
          <span dir="auto">{span ? absolute(span.from * 1000, zone) : "\u00a0"}</span>
          <span dir="auto">{span && absolute(span.to * 1000, zone)}</span>
        </div>
      </div>
    </>
  );
  return (
    <FigureCard
      title={t("Regions over time")}
      file={`target-${id}-regions.csv`}
      summary={summary}
      numbers={numbers}
      query={matrix}
    >
      {data && !span ? (
        <div className="matrix">
          <div className="matrix-none">
            <div aria-hidden>{picture}</div>
            <p>
              {t(
                "Each region that checks this target has a row here, with a mark for the worst it found in each step. The first marks come with the first results; a longer range reaches further back.",
              )}
            </p>
          </div>
          <Legend />
        </div>
      ) : (
        <div className="matrix" role="img" aria-label={t("Regions over time. {summary}", { summary })}>
          {picture}
          <Legend />
        </div>
      )}
    </FigureCard>
  );
}

/** The row of a region of which nothing is known. */
const unseen = (region: string): Matrix["items"][number] => ({
  region,
  up: [],
  degraded: [],
  down: [],
  unknown: [],
  missed: [],
  p50_us: [],
  p95_us: [],
});

// As ticks: up is full, degraded the upper part, down lower and wider, maintenance the middle, no data a thin line.
const shapes = {
  up: { y: 2, height: 20, width: 8 },
  degraded: { y: 2, height: 12, width: 8 },
  down: { y: 10, height: 13, width: 10 },
  maintenance: { y: 7, height: 10, width: 8 },
  no_data: { y: 2, height: 20, width: 2 },
  paused: { y: 2, height: 20, width: 2 },
} as const;

export function Legend() {
  return (
    <ul className="matrix-legend" aria-hidden>
      {(["up", "degraded", "down", "no_data"] as const).map((state) => (
        <li key={state}>
          <svg width="10" height="18" viewBox="0 0 10 24" aria-hidden>
            <rect x={(10 - shapes[state].width) / 2} {...shapes[state]} className={`m-${state}`} />
          </svg>
          {stateWords[state]}
        </li>
      ))}
    </ul>
  );
}

function numbersOf(matrix: Matrix): Numbers {
  return {
    head: [
      t("From (UTC)"),
      t("Region"),
      t("Up"),
      t("Degraded"),
      t("Down"),
      t("Unknown"),
      t("Missed"),
      t("Median ms"),
      t("95th ms"),
    ],
    columns: columns.regions,
    rows: matrix.items.flatMap((row) =>
      matrix.x.map((at, i) => [
        new Date(at * 1000).toISOString(),
        row.region,
        row.up[i] ?? 0,
        row.degraded[i] ?? 0,
        row.down[i] ?? 0,
        row.unknown[i] ?? 0,
        row.missed[i] ?? 0,
        ms(row.p50_us[i]),
        ms(row.p95_us[i]),
      ]),
    ),
  };
}

const ms = (us: number | null | undefined): number | null =>
  us === null || us === undefined ? null : Math.round(us / 10) / 100;
