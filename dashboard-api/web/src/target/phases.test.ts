import { expect, test } from "vitest";
import { describe, stack, stepSeconds } from "./phases";
import { series } from "./testdata";

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
