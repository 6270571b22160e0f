import type { Series } from "../api/types";
import columns from "./columns.json";
import { csvOf } from "./csv";
import { phases } from "./phases";

const ms = (us: number | null | undefined): number | null =>
  us === null || us === undefined ? null : Math.round(us / 10) / 100;

/** A series as a file for spreadsheets, the oldest first. */
export const seriesCsv = (series: Series): string =>
  csvOf(
    columns.series,
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
