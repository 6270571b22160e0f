import { expect, test } from "vitest";
import { mergeSlots } from "../live/history";
import { iso, start, tick } from "../live/testdata";
import { csvOf } from "./csv";
import { numbersOf } from "./ticks";
import { filed, shown } from "./words";

const slots = mergeSlots(
  [],
  [
    tick(0, "up", "eu", 1000),
    tick(0, "up", "us", 12_340),
    tick(1, "down", "eu", 5_000_000),
    { ...tick(2, "missed", "eu", 0), reason: "region_down" },
  ],
);

test("the table of a bar has each region of each slot, the newest first, and why", () => {
  const { head, columns, rows } = numbersOf({ kind: "http", slots, maintained: [] }, "utc");
  expect(head).toEqual(["When", "Region", "State", "Took", "Reason"]);
  expect(rows.map((row) => row.map(shown).slice(1))).toEqual([
    ["eu", "Missed", "–", "No prober of the region was running"],
    ["eu", "Down", "5.00 s", "No answer in time"],
    ["eu", "Up", "1.0 ms", ""],
    ["us", "Up", "12 ms", ""],
  ]);
  expect(shown(rows[0]?.[0] ?? null)).toMatch(/00:00:20 UTC$/);
  expect(csvOf(columns, rows.map(filed)).split("\r\n")).toEqual([
    "Scheduled (UTC),Region,State,Took ms,Reason",
    `${iso(start + 20_000)},eu,Missed,,region_down`,
    `${iso(start + 10_000)},eu,Down,5000,timeout`,
    `${iso(start)},eu,Up,1,`,
    `${iso(start)},us,Up,12.34,`,
    "",
  ]);
});

test("what came while it was maintained is said to be of then", () => {
  const when = [{ from: iso(start + 5_000), to: iso(start + 15_000) }];
  const { rows } = numbersOf({ kind: "http", slots, maintained: when }, "utc");
  expect(rows.map((row) => shown(row[4] ?? null))).toEqual([
    "No prober of the region was running",
    "In maintenance. No answer in time",
    "",
    "",
  ]);
  expect(filed(rows[1] ?? []).at(4)).toBe("maintenance timeout");
});

test("pings come from no region, and are missed in other words", () => {
  const pings = mergeSlots([], [tick(0, "up", "push", 0), tick(1, "down", "push", 0)]);
  const { head, rows } = numbersOf({ kind: "heartbeat", slots: pings, maintained: [] }, "utc");
  expect(head).toEqual(["When", "State", "Took", "Reason"]);
  expect(rows.map((row) => row.map(shown).slice(1))).toEqual([
    ["Down", "–", "No ping came in time"],
    ["Up", "–", ""],
  ]);
});
