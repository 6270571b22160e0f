import type { Series } from "../api/types";

export const series = (change: Partial<Series>): Series => ({
  tier: "raw",
  step_s: 30,
  partial: false,
  x: [0, 30, 60],
  count: [3, 1, 0],
  up: [3, 0, 0],
  degraded: [0, 0, 0],
  down: [0, 1, 0],
  unknown: [0, 0, 0],
  missed: [0, 0, 2],
  p50_us: [15_000, 1000, null],
  p95_us: [15_000, 1000, null],
  p99_us: [15_000, 1000, null],
  dns_us: [1000, 1000, null],
  connect_us: [2000, null, null],
  tls_us: [3000, null, null],
  wait_us: [4000, null, null],
  transfer_us: [5000, null, null],
  ...change,
});
