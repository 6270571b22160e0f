import type { Histogram, Matrix, Period } from "../api/figures";
import type { State } from "../api/types";

/** What a region saw in a step; null: nothing was due. */
export interface Cell {
  state: State | null;
  checks: number;
  down: number;
  degraded: number;
  missing: number;
  p50: number | null;
}

/** The state that a step shows: the worst that was measured, and no data only where nothing was. */
export function cellOf(row: Matrix["items"][number], i: number): Cell {
  const at = (column: number[]) => column[i] ?? 0;
  const down = at(row.down);
  const degraded = at(row.degraded);
  const missing = at(row.unknown) + at(row.missed);
  const checks = at(row.up) + degraded + down;
  const state = down > 0 ? "down" : degraded > 0 ? "degraded" : checks > 0 ? "up" : missing > 0 ? "no_data" : null;
  return { state, checks, down, degraded, missing, p50: row.p50_us[i] ?? null };
}

/** From when to when steps are, each of which is named by its beginning; null: there are none. */
export function ends(x: readonly number[], step: number): { from: number; to: number } | null {
  const from = x[0];
  return from === undefined ? null : { from, to: (x.at(-1) ?? from) + step };
}

/** Buckets at the ends that hold nothing are left out. */
export function trimmed(histogram: Histogram): Histogram["buckets"] {
  const { buckets } = histogram;
  const first = buckets.findIndex((bucket) => bucket.count > 0);
  if (first < 0) return [];
  const last = buckets.findLastIndex((bucket) => bucket.count > 0);
  return buckets.slice(first, last + 1);
}

/** How many were as fast as a bucket or faster, of all, at a quantile: where the line is drawn. */
export function quantileBucket(buckets: Histogram["buckets"], q: number): number {
  const all = buckets.reduce((n, bucket) => n + bucket.count, 0);
  let sum = 0;
  for (const [i, bucket] of buckets.entries()) {
    sum += bucket.count;
    if (sum >= q * all) return i;
  }
  return -1;
}

export interface Day {
  period: Period;
  state: State | null;
  /** Column and row of a calendar whose weeks begin on Monday. */
  week: number;
  weekday: number;
}

const states: Record<Period["state"], State | null> = {
  up: "up",
  degraded: "degraded",
  down: "down",
  unknown: "no_data",
  no_data: null,
};

/** How bad a day with downtime was: how many of three parts of its square are filled. */
export const badness = (minutes: number): 1 | 2 | 3 => (minutes < 5 ? 1 : minutes < 60 ? 2 : 3);

/** Days of a zone as squares of a calendar. */
export function calendar(periods: readonly Period[]): Day[] {
  let week = 0;
  return periods.map((period, i) => {
    const weekday = (new Date(`${period.name}T00:00:00Z`).getUTCDay() + 6) % 7;
    if (i > 0 && weekday === 0) week++;
    return { period, state: states[period.state], week, weekday };
  });
}
