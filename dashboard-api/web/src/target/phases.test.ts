import { expect, test } from "vitest";
import type { Series } from "../api/types";
import { describe, stack, stepSeconds } from "./phases";

const series = (change: Partial<Series>): Series => ({
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

test("phases are summed upwards in milliseconds", () => {
  expect(stack(series({})).map((column) => column[0])).toEqual([1, 3, 6, 10, 15]);
});

test("a phase that was never reached adds nothing; a step without measurement is a gap", () => {
  const heights = stack(series({}));
  expect(heights.map((column) => column[1])).toEqual([1, 1, 1, 1, 1]);
  expect(heights.map((column) => column[2])).toEqual([null, null, null, null, null]);
});

test("the description counts what the chart shows", () => {
  expect(describe(series({}))).toEqual({ checks: 4, down: 1, missing: 2, medianUs: 15_000 });
});

test("a step holds at least one check", () => {
  expect(stepSeconds("1h", 10)).toBe(30);
  expect(stepSeconds("1h", 300)).toBe(300);
  expect(stepSeconds("7d", 60)).toBe(3600);
});
