import { expect, test } from "vitest";
import { foldSlot, maintained, mergeSlots } from "./history";
import { iso, start, tick } from "./testdata";

test("the same results in any order and any number of times give the same bar", () => {
  const ticks = Array.from({ length: 60 }, (_, i) => tick(i, i % 7 === 0 ? "down" : "up", i % 2 ? "eu" : "us"));
  const forward = mergeSlots([], ticks);
  const scattered = mergeSlots(mergeSlots(mergeSlots([], ticks.slice(30)), [...ticks].reverse()), ticks);
  expect(scattered).toEqual(forward);
  expect(forward).toHaveLength(60);
});

test("a repeat changes nothing, not even the identity", () => {
  const slots = mergeSlots([], [tick(1), tick(2)]);
  expect(mergeSlots(slots, [tick(1), tick(2)])).toBe(slots);
  expect(mergeSlots(slots, [])).toBe(slots);
});

test("the newest 90 slots are kept and an older one does not come back", () => {
  const slots = mergeSlots(
    [],
    Array.from({ length: 95 }, (_, i) => tick(i)),
  );
  expect(slots).toHaveLength(90);
  expect(slots[0]?.at).toBe(start + 5 * 10_000);
  expect(mergeSlots(slots, [tick(0)])).toBe(slots);
});

test("regions of one slot share a tick and fold by strict majority", () => {
  const slots = mergeSlots([], [tick(1, "down", "us"), tick(1, "up", "eu"), tick(1, "down", "ap")]);
  expect(slots).toHaveLength(1);
  expect(slots[0]?.cells.map((c) => c.region)).toEqual(["ap", "eu", "us"]);
  expect(slots[0]?.mark).toBe("down");
  const cell = (status: "up" | "down" | "degraded" | "missed" | "unknown") => ({
    region: "r",
    status,
    totalUs: 0,
    failure: "",
    reason: "",
  });
  expect(foldSlot([cell("up"), cell("down")])).toBe("degraded");
  expect(foldSlot([cell("down"), cell("missed")])).toBe("down");
  expect(foldSlot([cell("missed"), cell("unknown")])).toBe("none");
  expect(foldSlot([cell("up"), cell("degraded")])).toBe("degraded");
});

test("a measurement replaces a reason and never the other way round", () => {
  const missed = mergeSlots([], [tick(1, "missed")]);
  const measured = mergeSlots(missed, [tick(1, "up")]);
  expect(measured[0]?.mark).toBe("up");
  expect(mergeSlots(measured, [tick(1, "missed")])).toBe(measured);
});

test("what was measured while a target is maintained is drawn as maintenance, what was before is not", () => {
  const slots = mergeSlots([], [tick(1, "up"), tick(2, "down"), tick(3, "up")]);
  const going = [{ from: iso(start + 20_000), to: null }];
  expect(maintained(slots, going).map((slot) => slot.mark)).toEqual(["up", "maintenance", "maintenance"]);
  expect(maintained(slots, [])).toBe(slots);
});

test("what was measured in a maintenance that is over stays drawn as such, from its first slot to its last", () => {
  const slots = mergeSlots([], [tick(0, "down"), tick(1, "down"), tick(2, "up"), tick(3, "down"), tick(5, "up")]);
  const over = [
    { from: iso(start + 10_000), to: iso(start + 30_000) },
    { from: iso(start + 50_000), to: iso(start + 60_000) },
  ];
  expect(maintained(slots, over).map((slot) => slot.mark)).toEqual([
    "down",
    "maintenance",
    "maintenance",
    "down",
    "maintenance",
  ]);
});
