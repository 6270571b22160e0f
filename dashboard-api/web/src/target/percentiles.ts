import type { Series } from "../api/types";

/** What so many of a hundred checks took at most. Each is told by how its line is broken, too. */
export const percentiles = [
  { key: "p50", color: "--accent", dash: [] },
  { key: "p95", color: "--ink-2", dash: [7, 4] },
  { key: "p99", color: "--ink-3", dash: [2, 3] },
] as const;

/** Their lines in milliseconds. A step in which nothing was measured is a gap. */
export const lines = (series: Series): (number | null)[][] =>
  percentiles.map(({ key }) => series[`${key}_us`].map((us) => (us === null ? null : us / 1000)));
