import { expect, test } from "vitest";
import { asked, coarser, fileSpan, stepped, within, zoomOf, zoomStep } from "./zoom";

const hour = { from: "2026-11-24T00:00:00Z", to: "2026-11-24T01:00:00Z" };

test("an address asks for a part of the time, and is written as it was read", () => {
  const zoom = zoomOf(hour);
  expect(zoom).toEqual({ from: Date.UTC(2026, 10, 24) / 1000, to: Date.UTC(2026, 10, 24, 1) / 1000 });
  expect(zoom && asked(zoom)).toEqual(hour);
});

test("a file is named by its range, with what every system takes in a name", () => {
  expect(fileSpan({ from: Date.UTC(2026, 10, 24) / 1000, to: Date.UTC(2026, 10, 24, 1, 30) / 1000 })).toBe(
    "20261124T000000Z-20261124T013000Z",
  );
});

test("what is no range is none", () => {
  expect(zoomOf({})).toBeNull();
  expect(zoomOf({ from: hour.from })).toBeNull();
  expect(zoomOf({ from: hour.from, to: "tomorrow" })).toBeNull();
  expect(zoomOf({ from: hour.to, to: hour.from })).toBeNull();
  expect(within({ from: 0, to: 59.2 })).toEqual({ from: 0, to: 60 });
  expect(within({ from: 0, to: 59 })).toBeNull();
  expect(within({ from: 0, to: 91 * 86_400 })).toBeNull();
});

test("steps are few enough to be seen, and wide enough to hold a check", () => {
  const of = (seconds: number, interval = 10) => zoomStep({ from: 0, to: seconds }, interval, 120);
  expect(of(600)).toBe(30);
  expect(of(3600)).toBe(30);
  expect(of(6 * 3600)).toBe(300);
  expect(of(600, 300)).toBe(300);
  expect(of(49 * 3600)).toBe(3600);
  expect(of(46 * 86_400)).toBe(86_400);
});

test("of what is long over wider steps are asked for, of those that are kept", () => {
  expect(coarser(30)).toEqual([30, 3600, 86_400]);
  expect(coarser(5400)).toEqual([5400, 7200, 86_400]);
  expect(coarser(3600)).toEqual([3600, 86_400]);
  expect(coarser(86_400)).toEqual([86_400]);
});

test("the range is widened to whole steps", () => {
  expect(stepped({ from: 65, to: 119 }, 30)).toEqual({ from: 60, to: 120 });
});
