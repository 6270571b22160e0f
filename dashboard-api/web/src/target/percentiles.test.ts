import { expect, test } from "vitest";
import { lines, percentiles } from "./percentiles";
import { series } from "./testdata";

test("each percentile is a line in milliseconds, and a step without a measurement is a gap in all of them", () => {
  const found = lines(
    series({ p50_us: [15_000, 1000, null], p95_us: [20_000, 1500, null], p99_us: [90_500, 1999, null] }),
  );
  expect(found).toEqual([
    [15, 1, null],
    [20, 1.5, null],
    [90.5, 1.999, null],
  ]);
});

test("no two lines are broken alike: they are told apart in greyscale", () => {
  expect(new Set(percentiles.map(({ dash }) => dash.join())).size).toBe(percentiles.length);
});
