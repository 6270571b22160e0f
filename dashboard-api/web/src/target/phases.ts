import type { Series } from "../api/types";
import type { Range } from "../app/router";
import { t } from "../words/t";

/** The parts of a check, in the order they happen. */
export const phases = [
  { key: "dns", label: t("Name look-up") },
  { key: "connect", label: t("Connect") },
  { key: "tls", label: "TLS" },
  { key: "wait", label: t("Wait for answer") },
  { key: "transfer", label: t("Transfer") },
] as const;

export type PhaseKey = (typeof phases)[number]["key"];

const DAY = 86_400;
export const spanSeconds: Record<Range, number> = {
  "1h": 3600,
  "6h": 21_600,
  "24h": DAY,
  "7d": 7 * DAY,
  "30d": 30 * DAY,
  "90d": 90 * DAY,
};
// Whole hours over two days, whole days over 45: of those the figures are kept.
const steps: Record<Range, number> = { "1h": 30, "6h": 180, "24h": 600, "7d": 3600, "30d": 10_800, "90d": DAY };

/** Wide enough that each step holds at least one check of the target. */
export const stepSeconds = (range: Range, intervalS: number): number =>
  Math.max(steps[range], Math.ceil(intervalS / 30) * 30);

export type Stack = (number | null)[][];

/**
 * The phases as heights in milliseconds, each on top of those before it. Drawn
 * from the tallest (last) to the lowest with opaque fills, they look stacked. A
 * step without a measurement is null in all of them: a gap, not a zero.
 */
export function stack(series: Series): Stack {
  const columns = phases.map(({ key }) => series[`${key}_us`]);
  const heights: Stack = phases.map(() => []);
  series.x.forEach((_, i) => {
    const values = columns.map((column) => column[i] ?? null);
    const empty = values.every((value) => value === null);
    let sum = 0;
    values.forEach((value, phase) => {
      sum += value ?? 0;
      heights[phase]?.push(empty ? null : sum / 1000);
    });
  });
  return heights;
}

/** One sentence about the whole range, for those who do not see the chart. */
export function describe(series: Series): { checks: number; down: number; missing: number; medianUs: number | null } {
  const sum = (column: number[]) => column.reduce((a, b) => a + b, 0);
  const medians = series.p50_us.filter((v): v is number => v !== null).sort((a, b) => a - b);
  return {
    checks: sum(series.count),
    down: sum(series.down),
    missing: sum(series.unknown) + sum(series.missed),
    medianUs: medians[Math.floor(medians.length / 2)] ?? null,
  };
}
