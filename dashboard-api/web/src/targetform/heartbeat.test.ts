import { expect, test } from "vitest";
import type { Target } from "../api/types";
import { errorsOf } from "./form";
import { emptyHeartbeat, heartbeatBody, heartbeatDraftOf, lengthOf, secondsOf } from "./heartbeat";
import { allZones, matching, offsetOf } from "./zones";

test("lengths are shown in the largest unit that leaves no rest, and read back", () => {
  expect([10, 90, 3600, 5400, 86_400, 90_000].map(lengthOf)).toEqual([
    { n: "10", unit: "s" },
    { n: "90", unit: "s" },
    { n: "1", unit: "h" },
    { n: "90", unit: "min" },
    { n: "1", unit: "d" },
    { n: "25", unit: "h" },
  ]);
  for (const s of [1, 59, 60, 61, 7200, 31_622_400]) expect(secondsOf(lengthOf(s))).toBe(s);
  expect(secondsOf({ n: "1,5", unit: "h" })).toBe(5400);
  for (const n of ["", "x", "-1", "0"]) expect(secondsOf({ n, unit: "s" })).toBeNull();
});

test("a heartbeat has a name, a grace, and a period or a cron expression with its zone", () => {
  const empty = emptyHeartbeat("Europe/Berlin");
  expect(heartbeatBody(empty, null)).toMatchObject({ ok: false, errors: { name: expect.any(String) } });
  const named = { ...empty, name: " backup " };
  expect(heartbeatBody(named, null)).toEqual({
    ok: true,
    body: { kind: "heartbeat", name: "backup", heartbeat: { period_s: 3600, grace_s: 300 } },
  });
  expect(heartbeatBody({ ...named, by: "cron", cron: "30  2 * * 1-5" }, null)).toEqual({
    ok: true,
    body: {
      kind: "heartbeat",
      name: "backup",
      heartbeat: { cron: "30 2 * * 1-5", zone: "Europe/Berlin", grace_s: 300 },
    },
  });
  const bad = heartbeatBody({ ...named, by: "cron", cron: " ", zone: "", grace: { n: "", unit: "s" } }, null);
  expect(Object.keys(bad.ok ? {} : bad.errors).sort()).toEqual(["cron", "grace", "zone"]);
});

test("an edit sends the schedule as a whole, and only when it changed", () => {
  const target = { name: "backup", heartbeat: { cron: "0 * * * *", grace_s: 60 } } as Target;
  const before = heartbeatDraftOf(target, "Asia/Tokyo");
  expect(before).toMatchObject({ by: "cron", zone: "UTC", grace: { n: "1", unit: "min" } });
  expect(heartbeatBody(before, before)).toEqual({ ok: true, body: {} });
  expect(heartbeatBody({ ...before, name: "b" }, before)).toEqual({ ok: true, body: { name: "b" } });
  expect(heartbeatBody({ ...before, by: "period" }, before)).toEqual({
    ok: true,
    body: { heartbeat: { period_s: 3600, grace_s: 60 } },
  });
});

test("what the server says of a schedule lands on its field", () => {
  const say = (pointer: string) => ({ pointer, code: "x", message: "no" });
  const errors = ["period_s", "cron", "zone", "grace_s"].map((field) => say(`/heartbeat/${field}`));
  const found = errorsOf({ type: "about:blank", title: "invalid", status: 422, errors });
  expect(found).toEqual({ period: "No.", cron: "No.", zone: "No.", grace: "No." });
});

test("zones are found by any part of their name, words in any order", () => {
  const zones = ["Africa/Abidjan", "America/New_York", "America/North_Dakota/New_Salem", "Europe/Berlin", "UTC"];
  expect(matching(zones, "new york")).toEqual(["America/New_York"]);
  expect(matching(zones, "berl")).toEqual(["Europe/Berlin"]);
  expect(matching(zones, "york america")).toEqual(["America/New_York"]);
  expect(matching(zones, "")).toEqual(zones);
  expect(matching(zones, "nowhere")).toEqual([]);
  for (const zone of ["UTC", "Asia/Kolkata", "Asia/Kathmandu", "Europe/Kyiv"]) expect(allZones()).toContain(zone);
  expect(offsetOf("Asia/Kathmandu", new Date("2026-03-01"))).toBe("UTC+05:45");
  expect(offsetOf("UTC", new Date("2026-03-01"))).toBe("UTC");
  expect(offsetOf("Nowhere/At_All", new Date("2026-03-01"))).toBe("");
});
