import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { ChartColumn, Download, Table } from "lucide-react";
import { useState } from "react";
import { api } from "../api/endpoints";
import type { Series } from "../api/types";
import { useLive } from "../app/live";
import { type Range, ranges } from "../app/router";
import { AsOfNote, useAsOf } from "../ui/AsOf";
import { download } from "../ui/download";
import { ErrorNote } from "../ui/ErrorNote";
import { KeptNote } from "../ui/KeptNote";
import { CopyNote, untilFresh } from "../ui/Stale";
import { count, latency } from "../ui/words";
import { t } from "../words/t";
import { ChartSkeleton, PhaseChart, type View } from "./PhaseChart";
import { describe, spanSeconds, stepSeconds } from "./phases";
import { SeriesTable } from "./SeriesTable";
import { seriesCsv } from "./seriesCsv";
import { useIncidentsIn } from "./useIncidentsIn";
import { widening } from "./widening";
import { ZoomBar } from "./ZoomBar";
import { fileSpan, asked as spanOf, stepped, type Zoom, zoomStep } from "./zoom";

function lengthOf(range: Range): string {
  const n = Number.parseInt(range, 10);
  return range.endsWith("h") ? t("{h} h", { h: n }) : t("{d} d", { d: n });
}

const views: [View, string][] = [
  ["phases", t("Phases")],
  ["percentiles", t("Percentiles")],
];

/** The range up to now, in whole steps. */
function newest(range: Range, step: number, now: number): Zoom {
  const to = Math.ceil(now / 1000 / step) * step;
  return { from: to - Math.ceil(spanSeconds[range] / step) * step, to };
}

/** Where the time goes: the phases of the checks over a range, and how long most of them took. */
export function Performance({
  id,
  intervalS,
  range,
  zoom,
  view,
  onRange,
  onZoom,
  onView,
}: {
  id: number;
  intervalS: number;
  range: Range;
  /** Looked at closely, in place of the range. */
  zoom: Zoom | null;
  view: View;
  onRange: (range: Range) => void;
  onZoom: (zoom: Zoom | null) => void;
  onView: (view: View) => void;
}) {
  const { store } = useLive();
  const [asTable, setAsTable] = useState(false);
  const step = zoom ? zoomStep(zoom, intervalS, 120) : stepSeconds(range, intervalS);
  const series = useQuery({
    queryKey: ["series", id, range, step, zoom],
    queryFn: async () => {
      if (zoom)
        return widening(step, async (wide) => {
          const whole = stepped(zoom, wide);
          const data = await api.series(id, spanOf(whole), wide);
          return { data, ...whole, name: fileSpan(whole), ...(data.stale_since && { stale_since: data.stale_since }) };
        });
      const { from, to } = newest(range, step, store.serverNow());
      const data = await api.series(id, spanOf({ from, to }), step);
      return { data, from, to, name: range, ...(data.stale_since && { stale_since: data.stale_since }) };
    },
    refetchInterval: untilFresh(range === "1h" ? 10_000 : range === "6h" ? 60_000 : 300_000),
    placeholderData: keepPreviousData,
  });
  const asOf = useAsOf(series, false);
  const incidents = useIncidentsIn(id, series.data);
  return (
    <section className="card" aria-labelledby="performance">
      <div className="card-head">
        <h2 id="performance">{t("Response time")}</h2>
        <CopyNote of={series.data} />
        <AsOfNote at={asOf} />
        {/* biome-ignore lint/a11y/useSemanticElements: a row of toggles, not a form */}
        <div className="segments push" role="group" aria-label={t("What the chart shows")}>
          {views.map(([one, label]) => (
            <button key={one} type="button" aria-pressed={one === view} onClick={() => onView(one)}>
              {label}
            </button>
          ))}
        </div>
        {/* biome-ignore lint/a11y/useSemanticElements: a row of toggles, not a form */}
        <div className="segments" role="group" aria-label={t("Range")}>
          {ranges.map((r) => (
            <button key={r} type="button" aria-pressed={r === range && !zoom} onClick={() => onRange(r)}>
              {lengthOf(r)}
            </button>
          ))}
        </div>
        <button type="button" className="btn" aria-pressed={asTable} onClick={() => setAsTable(!asTable)}>
          {asTable ? <ChartColumn size={15} aria-hidden /> : <Table size={15} aria-hidden />}
          {t(asTable ? "Chart" : "Table")}
        </button>
        <button
          type="button"
          className="btn"
          disabled={!series.data}
          onClick={() =>
            series.data && download(`target-${id}-response-${series.data.name}.csv`, seriesCsv(series.data.data))
          }
        >
          <Download size={15} aria-hidden /> {"CSV"}
        </button>
      </div>
      {series.error && !series.data && <ErrorNote error={series.error} onRetry={() => void series.refetch()} />}
      <ZoomBar zoom={zoom} shown={zoom ?? series.data ?? newest(range, step, store.serverNow())} onZoom={onZoom} />
      {series.isPending && (
        <>
          <p className="chart-summary" />
          <ChartSkeleton view={view} />
        </>
      )}
      {series.data && (
        <>
          <Summary range={zoom ? null : range} {...describe(series.data.data)} series={series.data.data} />
          {asTable ? (
            <SeriesTable series={series.data.data} />
          ) : (
            <PhaseChart
              series={series.data.data}
              from={series.data.from}
              to={series.data.to}
              incidents={incidents}
              view={view}
              onZoom={onZoom}
            />
          )}
        </>
      )}
    </section>
  );
}

function Summary(props: {
  series: Series;
  /** Null: a part of the time. */
  range: Range | null;
  checks: number;
  down: number;
  missing: number;
  medianUs: number | null;
}) {
  if (props.checks + props.missing === 0) {
    return (
      <p className="chart-summary muted">
        {props.range === null
          ? t("No checks in this range.")
          : t(
              "No checks in the last {range, select, 1h {hour} 6h {6 hours} 24h {24 hours} 7d {7 days} 30d {30 days} other {90 days}}.",
              { range: props.range },
            )}{" "}
        <KeptNote of={props.series} />
      </p>
    );
  }
  return (
    <p className="chart-summary muted">
      {props.range === null
        ? t("{checks, plural, one {# check} other {# checks}} in this range, {down} down, {missing} without data.", {
            checks: props.checks,
            down: count(props.down),
            missing: count(props.missing),
          })
        : t(
            "{checks, plural, one {# check} other {# checks}} in the last {range, select, 1h {hour} 6h {6 hours} 24h {24 hours} 7d {7 days} 30d {30 days} other {90 days}}, {down} down, {missing} without data.",
            { checks: props.checks, range: props.range, down: count(props.down), missing: count(props.missing) },
          )}{" "}
      {props.medianUs !== null && t("Typical response {time}.", { time: latency(props.medianUs) })}{" "}
      <KeptNote of={props.series} />
    </p>
  );
}
