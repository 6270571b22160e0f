import type { Series } from "../api/types";
import { csvOf } from "./csv";
import { phases } from "./phases";

const ms = (us: number | null | undefined): number | null =>
  us === null || us === undefined ? null : Math.round(us / 10) / 100;

/** A series as a file for spreadsheets, the oldest first. */
export const seriesCsv = (series: Series): string =>
  csvOf(
    [
      "From (UTC)",
      "Checks",
      "Up",
      "Degraded",
      "Down",
      "Unknown",
      "Missed",
      "Median ms",
      "95th ms",
      "99th ms",
      ...phases.map((phase) => `${phase.label} ms`),
    ],
    series.x.map((at, i) => [
      new Date(at * 1000).toISOString(),
      series.count[i] ?? 0,
      series.up[i] ?? 0,
      series.degraded[i] ?? 0,
      series.down[i] ?? 0,
      series.unknown[i] ?? 0,
      series.missed[i] ?? 0,
      ms(series.p50_us[i]),
      ms(series.p95_us[i]),
      ms(series.p99_us[i]),
      ...phases.map((phase) => ms(series[`${phase.key}_us`][i])),
    ]),
  );
