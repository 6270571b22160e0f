import { describe, expect, it } from "vitest";
import type { IncidentDetail } from "../api/incidents";
import type { StatusPage } from "../api/statusPages";
import type { Result, User } from "../api/types";
import { affectedBy, readersOf } from "./readers";
import { cutOf, firstFailures, timelineOf, told } from "./timeline";
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
  public_updates: [
    {
      page_id: 3,
      page: "Acme",
      published: true,
      post_id: 8,
      post: "Shop: down",
      kind: "incident",
      number: 2,
      at: "2026-03-01T10:02:00Z",
      state: "identified",
      text: "A **disk**.",
      author: "user:1",
    },
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
      "told",
      "resolved",
    ]);
    expect(lines[0]?.title).toBe("First failing check, from eu");
    expect(lines[4]).toMatchObject({ bad: true, title: "Mail (email) was not told", text: "opened: refused" });
    expect(lines[5]?.title).toBe("You noted");
    expect(lines[6]).toMatchObject({ title: "You told readers of Acme", text: "A **disk**.", key: "u-8-2" });
  });
  it("says who told readers, as far as it was kept", () => {
    const by = (author: string) =>
      timelineOf({ ...incident, public_updates: incident.public_updates.map((one) => ({ ...one, author })) }, [], {
        id: 1,
      } as User).find((line) => line.kind === "told")?.title;
    expect(by("user:2")).toBe("User 2 told readers of Acme");
    expect(by("key:7")).toBe("API key 7 told readers of Acme");
    expect(by("")).toBe("Readers of Acme were told");
  });
  it("begins at the first failing check, also without its results", () => {
    expect(timelineOf(incident, [], null)[0]).toMatchObject({ kind: "failure", at: incident.began_at });
  });
  it("says what it does not have all of", () => {
    const many = <T>(of: T[]) => Array<T>(100).fill(of[0] as T);
    const { confirmations, public_updates } = incident;
    expect(cutOf(incident)).toEqual([]);
    expect(cutOf({ confirmations: many(confirmations), public_updates })).toEqual([
      "Only the first 100 confirmations are shown.",
    ]);
    expect(cutOf({ confirmations, public_updates: many(public_updates) })).toEqual([
      "Of what readers were told, only the newest 100 updates are shown.",
    ]);
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

describe("readers", () => {
  const page = (id: number, target_ids: number[], member_ids: number[] = []) =>
    ({ id, groups: [{ name: "", components: [{ target_ids, member_ids }] }] }) as unknown as StatusPage;
  it("are concerned by the target, or by all that have the cause", () => {
    expect(affectedBy({ target_id: 4 }, [{ target_id: 9 }])).toEqual([4]);
    expect(
      affectedBy({ target_id: 0 }, [{ target_id: 4 }, { target_id: 0 }, { target_id: 9 }, { target_id: 4 }]),
    ).toEqual([4, 9]);
    expect(affectedBy({ target_id: 0 }, [])).toEqual([]);
  });
  it("of pages that show it, by name or by tag, come before those of others", () => {
    const pages = [page(1, [7]), page(2, [4]), page(3, [], [9])];
    const ids = (targets: number[]) => {
      const { showing, others } = readersOf(pages, targets);
      return [showing.map((one) => one.id), others.map((one) => one.id)];
    };
    expect(ids([4, 9])).toEqual([[2, 3], [1]]);
    expect(ids([])).toEqual([[], [1, 2, 3]]);
  });
});
