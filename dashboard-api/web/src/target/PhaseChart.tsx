import { useEffect, useMemo, useRef, useState } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import type { Series } from "../api/types";
import { useTheme, useZone, type Zone } from "../app/preferences";
import { Clock } from "../ui/time";
import { latency } from "../ui/words";
import { locale, t } from "../words/t";
import { type Band, clipped } from "./bands";
import { lines, percentiles } from "./percentiles";
import { phases, stack } from "./phases";
import { plain } from "./words";
import { within, type Zoom } from "./zoom";
import "../styles/phases.css";

/** Where the time goes, or how it is spread. */
export type View = "phases" | "percentiles";

interface Props {
  series: Series;
  from: number;
  to: number;
  incidents: readonly Band[];
  view: View;
  /** A range was dragged across. */
  onZoom: (zoom: Zoom) => void;
}

/** The mean of each phase, stacked, or lines of percentiles, with incidents shaded behind. The same numbers are in the table. */
export function PhaseChart({ onZoom, ...drawn }: Props) {
  const host = useRef<HTMLDivElement>(null);
  const [pressed, setPressed] = useState(false);
  // A chart that is made anew forgets what is dragged across it: what comes meanwhile is drawn afterwards.
  const { series, from, to, incidents, view } = useHeld(drawn, pressed);
  const [index, setIndex] = useState<number | null>(null);
  const [theme] = useTheme();
  const dark = useDarkSystem();
  const [zone] = useZone();
  const grid = useMemo(() => onGrid(series, from, to), [series, from, to]);
  const dragged = useRef(onZoom);
  dragged.current = onZoom;
  useEffect(() => {
    if (!pressed) return;
    const release = () => setPressed(false); // listens after the chart, which therefore has its drag first
    document.addEventListener("mouseup", release);
    return () => document.removeEventListener("mouseup", release);
  }, [pressed]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: colours are read again when the theme changes
  useEffect(() => {
    const element = host.current;
    if (!element) return;
    const heights = view === "percentiles" ? lines(grid) : stack(grid).reverse(); // tallest first, so that lower ones cover it
    const chart = new uPlot(
      options(element, grid, view, from, to, zone, incidents, setIndex, (zoom) => dragged.current(zoom)),
      [grid.x, ...heights],
      element,
    );
    const observer = new ResizeObserver(() =>
      chart.setSize({ width: element.clientWidth, height: element.clientHeight }),
    );
    observer.observe(element);
    return () => {
      observer.disconnect();
      chart.destroy();
    };
  }, [grid, view, from, to, zone, theme, dark, incidents]);
  const seen = incidents.filter((one) => clipped(one, from, to)).length;

  return (
    <figure className="chart">
      <Legend series={grid} view={view} index={index} incidents={seen} />
      <div ref={host} className="plot" aria-hidden onMouseDown={() => setPressed(true)} />
    </figure>
  );
}

/** The value, or while it is held the last one before. */
function useHeld<T>(value: T, held: boolean): T {
  const kept = useRef(value);
  if (!held) kept.current = value;
  return kept.current;
}

/** As high as the chart will be. */
export function ChartSkeleton({ view }: { view: View }) {
  return (
    <div className="chart">
      <Legend series={null} view={view} index={null} incidents={0} />
      <div className="skeleton plot" />
    </div>
  );
}

function Legend({
  series,
  view,
  index,
  incidents,
}: {
  series: Series | null;
  view: View;
  index: number | null;
  incidents: number;
}) {
  const at = series?.x[index ?? -1];
  return (
    <div className="legend">
      <span className="when">
        {index !== null && at !== undefined ? (
          <>
            <Clock at={at * 1000} dated /> ·{" "}
            {t("{n, plural, one {# check} other {# checks}}", { n: series?.count[index] ?? 0 })}
          </>
        ) : (
          t(view === "percentiles" ? "How long most checks took" : "Mean of each phase")
        )}
      </span>
      {view === "percentiles"
        ? percentiles.map(({ key, color, dash }) => (
            <span key={key} className="phase-key line-key">
              <svg width="24" height="10" viewBox="0 0 24 10" aria-hidden>
                <path d="M0 5h24" stroke={`var(${color})`} strokeWidth="2" strokeDasharray={dash.join(" ")} />
              </svg>
              {key}
              {index !== null && <b>{latency(series?.[`${key}_us`][index])}</b>}
            </span>
          ))
        : phases.map(({ key, label }) => (
            <span key={key} className="phase-key">
              <i className={`swatch p-${key}`} /> {label}
              {index !== null && <b>{latency(series?.[`${key}_us`][index])}</b>}
            </span>
          ))}
      {incidents > 0 && (
        <span className="mark-key">
          <svg width="12" height="12" viewBox="0 0 12 12" aria-hidden>
            <rect width="12" height="12" fill="var(--down-soft)" />
            <path d="M0.5 0V12M11.5 0V12" stroke="var(--down)" />
          </svg>
          {t("{n, plural, one {# incident} other {# incidents}}", { n: incidents })}
        </span>
      )}
    </div>
  );
}

function options(
  element: HTMLElement,
  series: Series,
  view: View,
  from: number,
  to: number,
  zone: Zone,
  incidents: readonly Band[],
  onIndex: (index: number | null) => void,
  onZoom: (zoom: Zoom) => void,
): uPlot.Options {
  const color = colors(element);
  const axis: uPlot.Axis = {
    stroke: color("--ink-3"),
    font: `12px ${getComputedStyle(element).fontFamily}`,
    grid: { stroke: color("--line"), width: 1 },
    ticks: { show: false },
  };
  return {
    width: element.clientWidth,
    height: element.clientHeight,
    padding: [12, 24, 0, 0], // half a label of the time stands beyond the right end
    legend: { show: false },
    cursor: { y: false, points: { show: false }, drag: { x: true, y: false, setScale: false } },
    ...(zone === "utc" ? { tzDate: (s: number) => uPlot.tzDate(new Date(s * 1000), "Etc/UTC") } : {}),
    scales: {
      x: { time: true, range: () => [from, to] },
      y: { range: (_, _min, max) => [0, Math.max(1, (max || 1) * 1.1)] },
    },
    axes: [
      { ...axis, size: 30, grid: { show: false }, space: 70, values: timeLabels(to - from, zone) },
      { ...axis, size: 62, values: (_, values) => values.map(axisLabel) },
    ],
    series: [{}, ...(view === "percentiles" ? lined(series.step_s, color) : stacked(color))],
    hooks: {
      drawClear: [
        (chart) => shadeIncidents(chart, incidents, from, to, color),
        (chart) => markTrouble(chart, series, color),
      ],
      setCursor: [(chart) => onIndex(chart.cursor.idx ?? null)],
      setSelect: [
        (chart) => {
          const { left, width } = chart.select;
          if (width === 0) return;
          const zoom = within({ from: chart.posToVal(left, "x"), to: chart.posToVal(left + width, "x") });
          chart.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          if (zoom) onZoom(zoom);
        },
      ],
    },
  };
}

function stacked(color: (name: string) => string): uPlot.Series[] {
  const bars = uPlot.paths.bars?.({ size: [0.86, 48], align: 1, radius: 0 });
  return [...phases].reverse().map(({ key, label }) => ({
    label,
    stroke: color(`--phase-${key}`),
    fill: color(`--phase-${key}`),
    width: 0,
    points: { show: false },
    ...(bars ? { paths: bars } : {}),
  }));
}

function lined(step: number, color: (name: string) => string): uPlot.Series[] {
  return percentiles.map((one) => ({
    label: one.key,
    stroke: color(one.color),
    dash: [...one.dash],
    width: 2,
    points: { show: false },
    paths: steps(step),
  }));
}

/** A line over the whole of each step that has a value, so that one between two gaps is seen, too. */
function steps(step: number): uPlot.Series.PathBuilder {
  return (chart, index) => {
    const stroke = new Path2D();
    let down = false;
    chart.data[0].forEach((at, i) => {
      const value = chart.data[index]?.[i] ?? null;
      if (value !== null) {
        const y = chart.valToPos(value, "y", true);
        const x = chart.valToPos(at, "x", true);
        if (down) stroke.lineTo(x, y);
        else stroke.moveTo(x, y);
        stroke.lineTo(chart.valToPos(at + step, "x", true), y);
      }
      down = value !== null;
    });
    return { stroke };
  };
}

const axisLabel = (ms: number): string =>
  ms >= 1000 ? t("{n} s", { n: plain(ms / 1000) }) : t("{n} ms", { n: plain(ms) });

/** Hours and minutes; over several days the day. */
function timeLabels(span: number, zone: Zone): (chart: uPlot, splits: number[]) => string[] {
  const format = new Intl.DateTimeFormat(locale(), {
    ...(span > 2 * 86_400 ? { day: "numeric", month: "short" } : { hour: "2-digit", minute: "2-digit", hour12: false }),
    ...(zone === "utc" ? { timeZone: "UTC" } : {}),
  });
  return (_, splits) => splits.map((s) => format.format(new Date(s * 1000)));
}

/** Incidents get a soft band from their beginning to their end, with a line at each that is in the range. */
function shadeIncidents(
  chart: uPlot,
  incidents: readonly Band[],
  from: number,
  to: number,
  color: (name: string) => string,
): void {
  const { ctx, bbox } = chart;
  const ratio = devicePixelRatio || 1;
  for (const one of incidents) {
    const band = clipped(one, from, to);
    if (!band) continue;
    const tone = one.severity === "no_data" ? "no-data" : one.severity;
    const left = chart.valToPos(band.left, "x", true);
    const right = Math.max(left + 2 * ratio, chart.valToPos(band.right, "x", true));
    ctx.fillStyle = color(`--${tone}-soft`);
    ctx.fillRect(left, bbox.top, right - left, bbox.height);
    ctx.fillStyle = color(`--${tone}`);
    if (band.begins) ctx.fillRect(left, bbox.top, ratio, bbox.height);
    if (band.ends) ctx.fillRect(right - ratio, bbox.top, ratio, bbox.height);
  }
}

/** Steps with a down result get a solid head, steps without data a thin line: told apart without colour. */
function markTrouble(chart: uPlot, series: Series, color: (name: string) => string): void {
  const { ctx, bbox } = chart;
  const ratio = devicePixelRatio || 1;
  series.x.forEach((at, i) => {
    const left = chart.valToPos(at, "x", true);
    const width = Math.max(2, chart.valToPos(at + series.step_s, "x", true) - left);
    if (left + width < bbox.left || left > bbox.left + bbox.width) return;
    if ((series.down[i] ?? 0) > 0) {
      ctx.fillStyle = color("--down");
      ctx.fillRect(left, bbox.top, width, 4 * ratio);
    } else if ((series.unknown[i] ?? 0) + (series.missed[i] ?? 0) > 0) {
      ctx.fillStyle = color("--no-data");
      ctx.fillRect(left + width / 2, bbox.top, ratio, bbox.height);
    }
  });
}

/** Reads a colour token as the canvas needs it: resolved for the current theme. */
function colors(element: HTMLElement): (name: string) => string {
  const probe = document.createElement("span");
  probe.hidden = true;
  element.append(probe);
  const known = new Map<string, string>();
  return (name) => {
    let value = known.get(name);
    if (value === undefined) {
      probe.style.color = `var(${name})`;
      // Where the system chooses the colours, too, phases are told apart by theirs.
      probe.style.setProperty("forced-color-adjust", name.startsWith("--phase-") ? "none" : "auto");
      value = getComputedStyle(probe).color;
      known.set(name, value);
    }
    return value;
  };
}

/** Puts the series on its full grid of steps: what is absent becomes an explicit gap. */
function onGrid(series: Series, from: number, to: number): Series {
  const step = series.step_s;
  const place = new Map(series.x.map((at, i) => [at, i]));
  const first = series.x[0] ?? Math.ceil(from / step) * step;
  const x: number[] = [];
  for (let at = first - Math.floor((first - from) / step) * step; at < to; at += step) x.push(at);
  const pick = <T,>(column: T[], none: T) => x.map((at) => column[place.get(at) ?? -1] ?? none);
  return {
    ...series,
    x,
    count: pick(series.count, 0),
    up: pick(series.up, 0),
    degraded: pick(series.degraded, 0),
    down: pick(series.down, 0),
    unknown: pick(series.unknown, 0),
    missed: pick(series.missed, 0),
    p50_us: pick(series.p50_us, null),
    p95_us: pick(series.p95_us, null),
    p99_us: pick(series.p99_us, null),
    dns_us: pick(series.dns_us, null),
    connect_us: pick(series.connect_us, null),
    tls_us: pick(series.tls_us, null),
    wait_us: pick(series.wait_us, null),
    transfer_us: pick(series.transfer_us, null),
  };
}

function useDarkSystem(): boolean {
  const [dark, setDark] = useState(() => matchMedia("(prefers-color-scheme: dark)").matches);
  useEffect(() => {
    const media = matchMedia("(prefers-color-scheme: dark)");
    const update = () => setDark(media.matches);
    media.addEventListener("change", update);
    return () => media.removeEventListener("change", update);
  }, []);
  return dark;
}
