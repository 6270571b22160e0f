import { describe, expect, it } from "vitest";
import type { KnownRow, KnownSlot } from "../api/known";
import { askedAt, daysWord, fieldAt, instantAt, laterOf, pastOf, readable, slotsOf } from "./at";

const row = (region: string, over: Partial<KnownRow> = {}): KnownRow => ({
  region,
  known: true,
  status: "up",
  failure: "",
  reason: "",
  http_status: 200,
  total_us: 1500,
  known_at: "2026-11-20T14:00:01.000Z",
  later_at: null,
  ...over,
});
const unknown = (region: string) =>
  row(region, { known: false, status: "", total_us: 0, known_at: null, later_at: "2026-11-20T15:00:00.000Z" });

describe("the instant that is asked for", () => {
  it("is that of the page which is shown, readable or not", () => {
    expect(pastOf([])).toBeUndefined();
    expect(pastOf([{ search: {} }, { search: { range: "24h" } }])).toBeUndefined();
    expect(pastOf([{ search: {} }, { search: { at: "2026-11-20T14:03:00Z" } }])).toBe("2026-11-20T14:03:00Z");
    expect(pastOf([{ search: { at: "yesterday" } }])).toBe("yesterday");
  });
  it("is read from an address, and nothing that cannot be read is taken for the present", () => {
    expect(askedAt("2026-11-20T14:03:00Z")).toBe("2026-11-20T14:03:00Z");
    expect(askedAt("2026-11-20T15:03:00.250+01:00")).toBe("2026-11-20T14:03:00.250Z");
    for (const text of ["", "now", "2026-11-20", "2026-13-20T14:03:00Z", "2026-11-20T14:03", 5]) {
      expect(askedAt(text)).toBe(String(text));
      expect(readable(text)).toBe(false);
    }
    expect(askedAt(undefined)).toBeUndefined();
  });
  it("is written and read by the clock of a zone", () => {
    const at = Date.parse("2026-11-20T14:03:07Z");
    expect(fieldAt(at, "UTC")).toBe("2026-11-20T14:03:07");
    expect(fieldAt(at, "Asia/Kathmandu")).toBe("2026-11-20T19:48:07");
    expect(instantAt("2026-11-20T19:48:07", "Asia/Kathmandu")).toBe("2026-11-20T14:03:07Z");
    expect(instantAt("2026-11-20T14:03", "UTC")).toBe("2026-11-20T14:03:00Z");
    expect(instantAt("", "UTC")).toBeUndefined();
  });
  it("is the later one of two that the clock shows", () => {
    expect(instantAt("2026-10-25T02:30:00", "Europe/Berlin")).toBe("2026-10-25T01:30:00Z");
  });
});

describe("slots", () => {
  const slots: KnownSlot[] = [
    { at: "2026-11-20T14:00:00.000Z", rows: [row("eu"), row("us", { status: "down" })] },
    { at: "2026-11-20T14:01:00.000Z", rows: [row("eu", { later_at: "2026-11-20T15:00:00.000Z" }), unknown("us")] },
    { at: "2026-11-20T14:02:00.000Z", rows: [unknown("eu")] },
  ];
  it("have only what was known", () => {
    expect(slotsOf(slots).map(({ mark, cells }) => [mark, cells.length])).toEqual([
      ["degraded", 2],
      ["up", 1],
      ["none", 0],
    ]);
  });
  it("say what was told later, the newest first", () => {
    expect(laterOf(slots).map((one) => [one.at.slice(14, 16), one.region, one.revised])).toEqual([
      ["02", "eu", false],
      ["01", "us", false],
      ["01", "eu", true],
    ]);
  });
});

it("days are summed up in words", () => {
  const day = (state: "up" | "down" | "no_data") => ({ name: "", state, down_minutes: 0 });
  expect(daysWord([day("no_data"), day("up"), day("up"), day("down")])).toBe(
    "4 days: 2 up, 1 with an outage, 1 without data",
  );
});
