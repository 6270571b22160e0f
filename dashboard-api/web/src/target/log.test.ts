import { expect, test } from "vitest";
import type { Result } from "../api/types";
import { mergeSlots } from "../live/history";
import { iso, start, tick } from "../live/testdata";
import { mergeLog, slotsIn } from "./log";

const stored = (slot: number, region = "eu") =>
  ({ scheduled_at: iso(start + slot * 10_000), region, status: "up", total_us: 5, failure: "", reason: "" }) as Result;

test("live lines appear at once and give way to the stored ones", () => {
  const slots = mergeSlots([], [tick(2), tick(3), tick(3, "down", "us")]);
  const lines = mergeLog([stored(2), stored(1)], slots);
  expect(lines.map((l) => [l.at - start, l.region, l.full !== null])).toEqual([
    [30_000, "eu", false],
    [30_000, "us", false],
    [20_000, "eu", true],
    [10_000, "eu", true],
  ]);
});

test("live lines older than the loaded pages wait for their page", () => {
  const slots = mergeSlots([], [tick(0), tick(5)]);
  expect(mergeLog([stored(4)], slots).map((l) => l.at - start)).toEqual([50_000, 40_000]);
  expect(mergeLog([], slots)).toHaveLength(2);
});

test("of a range that is looked at closely only its live lines are shown", () => {
  const slots = mergeSlots([], [tick(1), tick(2), tick(3)]);
  const at = (n: number) => (start + n * 10_000) / 1000;
  expect(slotsIn(slots, { from: at(2), to: at(3) }).map((slot) => slot.at - start)).toEqual([20_000]);
  expect(slotsIn(slots, null)).toBe(slots);
});
