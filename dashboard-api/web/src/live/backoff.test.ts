import { expect, test } from "vitest";
import { backoffMs } from "./backoff";

test("the ceiling doubles from 500 ms and stops at 30 s", () => {
  const ceilings = [0, 1, 2, 3, 4, 5, 6, 7, 1000].map((n) => backoffMs(n, () => 1));
  expect(ceilings).toEqual([500, 1000, 2000, 4000, 8000, 16000, 30000, 30000, 30000]);
});

test("the jitter is full: any delay from zero is possible", () => {
  expect(backoffMs(6, () => 0)).toBe(0);
  expect(backoffMs(6, () => 0.5)).toBe(15000);
});
