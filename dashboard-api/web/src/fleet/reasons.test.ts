import { expect, test } from "vitest";
import type { LedgerLine } from "../api/types";
import { stated, total } from "./reasons";

const line = (region: string, more: Partial<LedgerLine>): LedgerLine => ({
  region,
  planned: 0,
  up: 0,
  degraded: 0,
  down: 0,
  unknown: 0,
  missed: 0,
  in_flight: 0,
  spooled: 0,
  unexplained: 0,
  reasons: [],
  ...more,
});
const eu = line("eu", {
  planned: 12,
  up: 7,
  missed: 5,
  reasons: [
    { status: "missed", reason: "region_down", count: 4 },
    { status: "missed", reason: "expired", count: 1 },
  ],
});
const us = line("us", { planned: 9, unknown: 9, reasons: [{ status: "unknown", reason: "probe_blind", count: 9 }] });

test("reasons of all regions, the most frequent first", () => {
  expect(stated([eu, us]).map((one) => [one.region, one.reason, one.count])).toEqual([
    ["us", "probe_blind", 9],
    ["eu", "region_down", 4],
    ["eu", "expired", 1],
  ]);
});

test("what an older server says nothing of has none", () => {
  expect(stated([{ ...eu, reasons: undefined as never }])).toEqual([]);
});

test("all regions as one line", () => {
  expect(total([eu, us])).toMatchObject({ planned: 21, up: 7, missed: 5, unknown: 9, unexplained: 0 });
});
