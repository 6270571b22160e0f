import type { LedgerLine, LedgerReason } from "../api/types";

export interface Stated extends LedgerReason {
  region: string;
}

/** Why checks were not measured, of all regions, the most frequent first. */
export function stated(lines: readonly LedgerLine[]): Stated[] {
  return lines
    .flatMap((line) => (line.reasons ?? []).map((one) => ({ ...one, region: line.region })))
    .sort((a, b) => b.count - a.count || a.region.localeCompare(b.region) || a.reason.localeCompare(b.reason));
}

export type Figure = Exclude<keyof LedgerLine, "region" | "reasons">;

const figures: readonly Figure[] = [
  "planned",
  "up",
  "degraded",
  "down",
  "unknown",
  "missed",
  "in_flight",
  "spooled",
  "unexplained",
];

/** All regions as one line. */
export function total(lines: readonly LedgerLine[]): Record<Figure, number> {
  const sum = Object.fromEntries(figures.map((key) => [key, 0])) as Record<Figure, number>;
  for (const line of lines) for (const key of figures) sum[key] += line[key];
  return sum;
}
