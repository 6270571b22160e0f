import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { ChartColumn, Download, Table } from "lucide-react";
import { useState } from "react";
import { api } from "../api/endpoints";
import type { Series } from "../api/types";
import { type Range, ranges } from "../app/router";
import { download } from "../ui/download";
import { ErrorNote } from "../ui/ErrorNote";
import { KeptNote } from "../ui/KeptNote";
import { CopyNote, untilFresh } from "../ui/Stale";
import { count, latency } from "../ui/words";
import { t } from "../words/t";
import { ChartSkeleton, PhaseChart } from "./PhaseChart";
import { describe, spanSeconds, stepSeconds } from "./phases";
import { SeriesTable } from "./SeriesTable";
import { seriesCsv } from "./seriesCsv";
import { useIncidentsIn } from "./useIncidentsIn";
import { widening } from "./widening";
import { ZoomBar } from "./ZoomBar";
import { asked as spanOf, stepped, type Zoom, zoomStep } from "./zoom";

function lengthOf(range: Range): string {
  const n = Number.parseInt(range, 10);
  return range.endsWith("h") ? t("{h} h", { h: n }) : t("{d} d", { d: n });
}

/** The range up to now, in whole steps. */
function newest(range: Range, step: number): Zoom {
  const to = Math.ceil(Date.now() / 1000 / step) * step;
  return { from: to - Math.ceil(spanSeconds[range] / step) * step, to };
}

/** Where the time goes: the phases of the checks over a range. */
export function Performance({
  id,
  intervalS,
  range,
  zoom,
  onRange,
  onZoom,
}: {
  id: number;
  intervalS: number;
  range: Range;
  /** Looked at closely, in place of the range. */
  zoom: Zoom | null;
  onRange: (range: Range) => void;
  onZoom: (zoom: Zoom | null) => void;
}) {
  const [asTable, setAsTable] = useState(false);
  const step = zoom ? zoomStep(zoom, intervalS, 120) : stepSeconds(range, intervalS);
  const series = useQuery({
    queryKey: ["series", id, range, step, zoom],
    queryFn: async () => {
      if (zoom)
        return widening(step, async (wide) => {
          const whole = stepped(zoom, wide);
          const data = await api.series(id, spanOf(whole), wide);
          return { data, ...whole, ...(data.stale_since && { stale_since: data.stale_since }) };
        });
      const { from, to } = newest(range, step);
      const data = await api.series(id, spanOf({ from, to }), step);
      return { data, from, to, ...(data.stale_since && { stale_since: data.stale_since }) };
    },
    refetchInterval: untilFresh(range === "1h" ? 10_000 : range === "6h" ? 60_000 : 300_000),
    placeholderData: keepPreviousData,
  });
  const incidents = useIncidentsIn(id, series.data);
  return (
    <section className="card" aria-labelledby="performance">
      <div className="card-head">
        <h2 id="performance">{t("Response time")}</h2>
        <CopyNote of={series.data} />
        {/* biome-ignore lint/a11y/useSemanticElements: a row of toggles, not a form */}
        <div className="segments push" role="group" aria-label={t("Range")}>
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
          onClick={() => series.data && download(`target-${id}-response-${range}.csv`, seriesCsv(series.data.data))}
        >
          <Download size={15} aria-hidden /> {"CSV"}
        </button>
      </div>
      {series.error && !series.data && <ErrorNote error={series.error} onRetry={() => void series.refetch()} />}
      <ZoomBar zoom={zoom} shown={zoom ?? series.data ?? newest(range, step)} onZoom={onZoom} />
      {series.isPending && (
        <>
          <p className="chart-summary" />
          <ChartSkeleton />
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
