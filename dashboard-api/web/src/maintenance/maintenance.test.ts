import { describe, expect, it } from "vitest";
import type { MaintenanceWindow } from "../api/maintenance";
import { bodyOf, changesOf, type Draft, draftOf, rruleOf, ruleWord } from "./draft";
import { occurrences } from "./occurrences";
import { fieldOf, instants, wallOf } from "./wall";

const at = (text: string) => Date.parse(text);
const iso = (all: { from: number; to: number }[] | null) =>
  all?.map(({ from, to }) =>
    `${new Date(from).toISOString()} ${new Date(to).toISOString()}`.replaceAll(":00.000Z", ""),
  );

describe("a time on the wall", () => {
  it("is one instant on most days", () => {
    const { first, last } = instants(wallOf("2026-07-01T02:30"), "Europe/Berlin");
    expect(first).toBe(at("2026-07-01T00:30:00Z"));
    expect(last).toBe(first);
  });
  it("that the change skips is the change", () => {
    const { first, last } = instants(wallOf("2026-03-29T02:30"), "Europe/Berlin");
    expect(first).toBe(at("2026-03-29T01:00:00Z"));
    expect(last).toBe(first);
  });
  it("that comes twice has a first and a last instant", () => {
    const { first, last } = instants(wallOf("2026-10-25T02:30"), "Europe/Berlin");
    expect([first, last]).toEqual([at("2026-10-25T00:30:00Z"), at("2026-10-25T01:30:00Z")]);
  });
  it("is shown as fields take it", () => {
    expect(fieldOf(at("2026-07-01T00:30:00Z"), "Asia/Kathmandu")).toBe("2026-07-01T06:15");
  });
});

describe("occurrences", () => {
  const terms = { starts_at: "2026-03-27T02:30", zone: "Europe/Berlin", duration_s: 7200, rrule: "FREQ=DAILY" };
  it("go by the clock on the wall over a change", () => {
    expect(iso(occurrences(terms, at("2026-03-27T00:00:00Z"), 4))).toEqual([
      "2026-03-27T01:30 2026-03-27T03:30",
      "2026-03-28T01:30 2026-03-28T03:30",
      "2026-03-29T01:00 2026-03-29T02:30",
      "2026-03-30T00:30 2026-03-30T02:30",
    ]);
  });
  it("begin at the beginning, whether the rule names it or not", () => {
    const found = occurrences({ ...terms, zone: "UTC", rrule: "FREQ=WEEKLY;BYDAY=SU" }, 0, 3);
    expect(found?.map((one) => new Date(one.from).toISOString().slice(0, 10))).toEqual([
      "2026-03-27",
      "2026-03-29",
      "2026-04-05",
    ]);
  });
  it("know the last day and the nth weekday of a month", () => {
    const of = (rrule: string) =>
      occurrences({ ...terms, starts_at: "2026-01-31T00:00", zone: "UTC", rrule }, 0, 3)?.map((one) =>
        new Date(one.from).toISOString().slice(0, 10),
      );
    expect(of("FREQ=MONTHLY;BYMONTHDAY=-1")).toEqual(["2026-01-31", "2026-02-28", "2026-03-31"]);
    expect(of("FREQ=MONTHLY;BYDAY=-1SA")).toEqual(["2026-01-31", "2026-02-28", "2026-03-28"]);
    expect(of("FREQ=MONTHLY;INTERVAL=2;BYDAY=1MO")).toEqual(["2026-01-31", "2026-03-02", "2026-05-04"]);
    expect(of("FREQ=MONTHLY")).toEqual(["2026-01-31", "2026-03-31", "2026-05-31"]);
  });
  it("end with a count or a day", () => {
    expect(occurrences({ ...terms, rrule: "FREQ=DAILY;COUNT=2" }, 0)).toHaveLength(2);
    expect(occurrences({ ...terms, rrule: "FREQ=DAILY;UNTIL=20260329" }, 0)).toHaveLength(3);
  });
  it("leave to the server what they do not know", () => {
    for (const rrule of ["FREQ=YEARLY", "FREQ=MONTHLY;BYDAY=MO;BYSETPOS=-1", "nonsense", "FREQ=DAILY;BYDAY=XX"])
      expect(occurrences({ ...terms, rrule }, 0)).toBeNull();
  });
  it("once is once, until it is over", () => {
    expect(occurrences({ ...terms, rrule: "" }, 0)).toHaveLength(1);
    expect(occurrences({ ...terms, rrule: "" }, at("2026-04-01T00:00:00Z"))).toHaveLength(0);
  });
});

describe("the form", () => {
  const draft: Draft = {
    name: " Upgrade ",
    scope: "everything",
    target: null,
    tags: [],
    starts: "2026-03-29T02:30",
    zone: "UTC",
    hours: "1.5",
    repeat: "once",
    weekdays: [],
    monthly: "date",
    rule: "",
  };
  it("makes a rule of what was chosen", () => {
    expect(rruleOf(draft)).toBe("");
    expect(rruleOf({ ...draft, repeat: "weekly", weekdays: ["SU", "MO"] })).toBe("FREQ=WEEKLY;BYDAY=MO,SU");
    expect(rruleOf({ ...draft, repeat: "monthly" })).toBe("FREQ=MONTHLY;BYMONTHDAY=29");
    expect(rruleOf({ ...draft, repeat: "monthly", monthly: "weekday" })).toBe("FREQ=MONTHLY;BYDAY=-1SU");
    expect(rruleOf({ ...draft, repeat: "own", rule: "rrule:freq=daily " })).toBe("FREQ=DAILY");
  });
  it("sends what the API takes", () => {
    expect(bodyOf(draft)).toEqual({
      problems: {},
      body: { name: "Upgrade", everything: true, starts_at: "2026-03-29T02:30:00", zone: "UTC", duration_s: 5400 },
    });
  });
  it("names each field that is missing", () => {
    const { problems } = bodyOf({ ...draft, name: "", scope: "target", starts: "", hours: "", repeat: "own" });
    expect(Object.keys(problems).sort()).toEqual(["/duration_s", "/name", "/rrule", "/starts_at", "/target_id"]);
    expect(Object.keys(bodyOf({ ...draft, scope: "tags" }).problems)).toEqual(["/tags"]);
  });
  it("sends only what it is for, whatever was entered for another choice", () => {
    const all = { ...draft, target: 7, tags: ["db", "prod"] };
    const sent = (scope: Draft["scope"]) => {
      const { everything, target_id, tags } = bodyOf({ ...all, scope }).body;
      return { everything, target_id, tags };
    };
    expect(sent("target")).toEqual({ target_id: 7 });
    expect(sent("tags")).toEqual({ tags: ["db", "prod"] });
    expect(sent("everything")).toEqual({ everything: true });
  });
  it("tells usual rules in words", () => {
    expect(ruleWord("FREQ=WEEKLY;BYDAY=MO,SU")).toBe("Every Monday, Sunday");
    expect(ruleWord("FREQ=MONTHLY;BYDAY=-1SU")).toBe("On the last Sunday of each month");
    expect(ruleWord("FREQ=YEARLY")).toBe("FREQ=YEARLY");
  });
});

describe("the form of a window that there is", () => {
  const planned: MaintenanceWindow = {
    id: 3,
    name: "Upgrade",
    everything: false,
    target_id: 7,
    tags: [],
    starts_at: "2026-03-29T02:30:00",
    zone: "Europe/Berlin",
    duration_s: 5400,
    rrule: "",
    active: false,
    next_from: null,
    next_to: null,
    begun: false,
    ended_at: null,
    created_at: "2026-03-01T00:00:00.000Z",
    changed_at: null,
    version: 2,
  };
  it("changes nothing before something is changed, whatever the window is like", () => {
    for (const change of [
      {},
      { target_id: null, everything: true },
      { target_id: null, tags: ["db", "prod"] },
      { starts_at: "2026-03-29T02:30:15" },
      ...[60, 100, 3661, 86_399, 2_678_400].map((duration_s) => ({ duration_s })),
      ...[
        "FREQ=DAILY",
        "FREQ=WEEKLY",
        "FREQ=WEEKLY;BYDAY=MO,SU",
        "FREQ=WEEKLY;BYDAY=SU,MO", // as nobody chooses it here
        "FREQ=MONTHLY;BYMONTHDAY=29",
        "FREQ=MONTHLY;BYMONTHDAY=30",
        "FREQ=MONTHLY;BYMONTHDAY=-1",
        "FREQ=MONTHLY;BYDAY=-1SU",
        "FREQ=MONTHLY;BYDAY=1SU",
        "FREQ=YEARLY;COUNT=3",
      ].map((rrule) => ({ rrule })),
    ]) {
      const window = { ...planned, ...change };
      const { body, problems } = bodyOf(draftOf(window));
      expect([changesOf(window, body), problems], JSON.stringify(change)).toEqual([{}, {}]);
    }
  });
  it("shows usual rules as they are chosen, and others as they are written", () => {
    const shown = (rrule: string) => {
      const { repeat, weekdays, monthly, rule } = draftOf({ ...planned, rrule });
      return { repeat, weekdays, monthly, rule };
    };
    expect(shown("FREQ=WEEKLY;BYDAY=MO,SU")).toMatchObject({ repeat: "weekly", weekdays: ["MO", "SU"], rule: "" });
    expect(shown("FREQ=MONTHLY;BYMONTHDAY=-1")).toMatchObject({ repeat: "monthly", monthly: "last" });
    expect(shown("FREQ=MONTHLY;BYMONTHDAY=29")).toMatchObject({ repeat: "monthly", monthly: "date" });
    expect(shown("FREQ=MONTHLY;BYDAY=-1SU")).toMatchObject({ repeat: "monthly", monthly: "weekday" });
    expect(shown("FREQ=MONTHLY;BYMONTHDAY=30")).toMatchObject({ repeat: "own", rule: "FREQ=MONTHLY;BYMONTHDAY=30" });
  });
  it("sends what is changed, and what it is for as a whole", () => {
    const sent = (change: Partial<Draft>) => changesOf(planned, bodyOf({ ...draftOf(planned), ...change }).body);
    expect(sent({ name: "Move", hours: "2" })).toEqual({ name: "Move", duration_s: 7200 });
    expect(sent({ starts: "2026-03-30T02:30", zone: "UTC" })).toEqual({
      starts_at: "2026-03-30T02:30:00",
      zone: "UTC",
    });
    expect(sent({ scope: "tags", tags: ["db"] })).toEqual({ everything: false, target_id: null, tags: ["db"] });
    expect(sent({ scope: "everything" })).toEqual({ everything: true, target_id: null, tags: [] });
    expect(sent({ repeat: "daily" })).toEqual({ rrule: "FREQ=DAILY" });
    const daily = { ...planned, rrule: "FREQ=DAILY" };
    expect(changesOf(daily, bodyOf({ ...draftOf(daily), repeat: "once" }).body)).toEqual({ rrule: "" });
  });
});
