// Figures of a target over time, folded in other ways than a series.

import type { Figures, Lacks } from "./types";

/** Every list of a row has one entry per element of `x`. */
export interface MatrixRow {
  region: string;
  up: number[];
  degraded: number[];
  down: number[];
  unknown: number[];
  missed: number[];
  p50_us: (number | null)[];
  p95_us: (number | null)[];
}

export interface Matrix {
  stale_since?: string;
  tier: string;
  step_s: number;
  x: number[];
  items: MatrixRow[];
}

export interface Histogram {
  stale_since?: string;
  from: string;
  to: string;
  count: number;
  /** Four to a doubling, none left out. */
  buckets: { from_us: number; to_us: number; count: number }[];
}

export interface Period {
  /** Such as 2026-03-29. */
  name: string;
  from: string;
  to: string;
  partial: boolean;
  state: "up" | "degraded" | "down" | "unknown" | "no_data";
  folded: Figures;
}

export interface UptimeByDay extends Lacks {
  stale_since?: string;
  zone: string;
  periods: Period[];
}

/** What a line about a target has room for. */
export interface RowFigures {
  uptime: number | null;
  coverage: number | null;
}

export interface TargetFigures {
  target_id: number;
  last_24h: RowFigures;
  last_30d: RowFigures;
  cert_not_after: string | null;
}
