import { describe, expect, it } from "vitest";
import type { MatrixRow, Period } from "../api/figures";
import { csvOf } from "./csv";
import { badness, calendar, cellOf, ends, quantileBucket, trimmed } from "./figures";

describe("a step of a region", () => {
  const row: MatrixRow = {
    region: "eu",
    up: [5, 4, 0, 0, 3],
    degraded: [0, 1, 0, 0, 1],
    down: [0, 0, 0, 0, 1],
    unknown: [0, 0, 2, 0, 0],
    missed: [1, 0, 1, 0, 0],
    p50_us: [100, 200, null, null, 300],
    p95_us: [100, 200, null, null, 300],
  };
  it("shows the worst that was measured, no data where nothing was, and nothing where nothing was due", () => {
    expect([0, 1, 2, 3, 4].map((i) => cellOf(row, i).state)).toEqual(["up", "degraded", "no_data", null, "down"]);
  });
  it("counts what was measured apart from what was not", () => {
    expect(cellOf(row, 0)).toMatchObject({ checks: 5, missing: 1, p50: 100 });
  });
});

describe("steps", () => {
  it("reach from the beginning of the first to the end of the last", () => {
    expect(ends([600, 660, 720], 60)).toEqual({ from: 600, to: 780 });
    expect(ends([600], 60)).toEqual({ from: 600, to: 660 });
  });
  it("are at no time where there are none", () => {
    expect(ends([], 60)).toBeNull();
  });
});

describe("a histogram", () => {
  const buckets = [0, 3, 0, 6, 1, 0].map((count, i) => ({ from_us: i, to_us: i + 1, count }));
  it("loses its empty ends, and no bucket between", () => {
    expect(trimmed({ from: "", to: "", count: 10, buckets }).map((one) => one.count)).toEqual([3, 0, 6, 1]);
    expect(trimmed({ from: "", to: "", count: 0, buckets: [] })).toEqual([]);
  });
  it("knows where half and nearly all were", () => {
    expect(quantileBucket(buckets, 0.5)).toBe(3);
    expect(quantileBucket(buckets, 0.95)).toBe(4);
  });
});

describe("a year of days", () => {
  const period = (name: string, state: Period["state"]) => ({ name, state }) as Period;
  it("lies in weeks that begin on Monday", () => {
    const days = calendar([period("2026-03-01", "up"), period("2026-03-02", "down"), period("2026-03-03", "unknown")]);
    expect(days.map((day) => [day.week, day.weekday, day.state])).toEqual([
      [0, 6, "up"],
      [1, 0, "down"],
      [1, 1, "no_data"],
    ]);
  });
  it("says how bad a day with downtime was", () => {
    expect([0, 0.5, 4.99, 5, 59, 60, 1440].map(badness)).toEqual([1, 1, 1, 2, 2, 3, 3]);
  });
});

describe("a file for spreadsheets", () => {
  it("quotes what needs it, and holds no formula", () => {
    expect(
      csvOf(
        ["a", "b"],
        [
          ["x, y", 1],
          ['say "hi"', null],
          ["=1+1", -2],
        ],
      ),
    ).toBe('a,b\r\n"x, y",1\r\n"say ""hi""",\r\n\'=1+1,-2\r\n');
  });
});
