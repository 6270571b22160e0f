import { describe, expect, it } from "vitest";
import type { IncidentDetail } from "../api/incidents";
import type { Result, User } from "../api/types";
import { firstFailures, timelineOf, told } from "./timeline";
import { actorWord, cause, iconOf, subjectWord } from "./words";

const result = (region: string, scheduled_at: string, status: Result["status"]) =>
  ({
    region,
    scheduled_at,
    status,
    failure: status === "down" ? "timeout" : "",
    reason: "",
    http_status: 0,
    total_us: 5_000_000,
    message: "",
  }) as Result;

const incident: IncidentDetail = {
  id: 9,
  target_id: 4,
  target: { name: "Shop", url: "https://shop.example.com", kind: "http", tags: [] },
  severity: "down",
  state: "resolved",
  began_at: "2026-03-01T10:00:00Z",
  opened_at: "2026-03-01T10:00:20Z",
  acknowledged_at: null,
  acknowledged_by: "",
  resolved_at: "2026-03-01T10:05:00Z",
  duration_s: 300,
  explanation: "eu and us found it down: no answer in time",
  failure: "timeout",
  http_status: 0,
  regions: ["eu", "us"],
  group_id: null,
  timeline: [
    { id: 1, kind: "opened", at: "2026-03-01T10:00:20Z", author: "", text: "down" },
    {
      id: 2,
      kind: "notified",
      at: "2026-03-01T10:00:21Z",
      author: "",
      text: "Mail (email): opened, not delivered: refused",
    },
    { id: 3, kind: "note", at: "2026-03-01T10:02:00Z", author: "user:1", text: "restarting" },
    { id: 4, kind: "resolved", at: "2026-03-01T10:05:00Z", author: "", text: "" },
  ],
  confirmations: [
    {
      region: "us",
      prober: "us-1",
      slot: "2026-03-01T10:00:00Z",
      checked_at: "2026-03-01T10:00:01Z",
      status: "down",
      failure: "timeout",
      reason: "",
      http_status: 0,
      total_us: 5_000_000,
      message: "",
    },
  ],
};

describe("the timeline", () => {
  const results = [
    result("us", "2026-03-01T10:00:20Z", "down"),
    result("us", "2026-03-01T10:00:10Z", "down"),
    result("eu", "2026-03-01T10:00:00Z", "down"),
    result("ap", "2026-03-01T10:00:00Z", "up"),
  ];
  it("has the first failure of each region, the earliest first", () => {
    expect(firstFailures(results).map((r) => `${r.region} ${r.scheduled_at.slice(14, 19)}`)).toEqual([
      "eu 00:00",
      "us 00:10",
    ]);
  });
  it("puts everything in the order in which it happened", () => {
    const lines = timelineOf(incident, results, { id: 1 } as User);
    expect(lines.map((line) => line.kind)).toEqual([
      "failure",
      "confirmation",
      "failure",
      "opened",
      "notified",
      "note",
      "resolved",
    ]);
    expect(lines[0]?.title).toBe("First failing check, from eu");
    expect(lines[4]).toMatchObject({ bad: true, title: "Mail (email) was not told", text: "opened: refused" });
    expect(lines[5]?.title).toBe("You noted");
  });
  it("begins at the first failing check, also without its results", () => {
    expect(timelineOf(incident, [], null)[0]).toMatchObject({ kind: "failure", at: incident.began_at });
  });
  it("shows of a message it does not know all there is", () => {
    expect(told("somebody was called")).toEqual({ title: "Somebody was called", text: "" });
    expect(told("On-call (pagerduty): resolved")).toMatchObject({ bad: false, text: "resolved" });
  });
});

describe("words", () => {
  it("prefer the verdict's own explanation", () => {
    expect(cause(incident)).toBe("Eu and us found it down: no answer in time");
    expect(cause({ ...incident, explanation: "" })).toBe("No answer in time");
    expect(cause({ ...incident, explanation: "", failure: "" })).toBe("Cause not known");
  });
  it("tell what is over from what goes on", () => {
    expect(iconOf(incident)).toBe("up");
    expect(iconOf({ ...incident, state: "acknowledged" })).toBe("down");
  });
  it("name who did it, and what an incident without a target is about", () => {
    expect(actorWord("user:1", { id: 1 } as User)).toBe("You");
    expect(actorWord("user:2", { id: 1 } as User)).toBe("User 2");
    expect(actorWord("", null)).toBe("Probefleet");
    expect(subjectWord({ target_id: 0, target: { ...incident.target, kind: "region" } })).toBe("Blind region");
    expect(subjectWord(incident)).toBe("");
  });
});
