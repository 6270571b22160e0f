import { expect, test } from "vitest";
import type { Policy, ReplayedIncident, ReplayedPolicy } from "../api/policy";
import { policyOf, ruleDraftOf, ruleErrorsOf, sideBySide, verdictOf } from "./rule";

test("a policy is shown and read back as it was, and what is not said stays unsaid", () => {
  const full: Policy = {
    quorum: { rule: "count", count: 2, at_least: 1, firm: true },
    down_after: 3,
    up_after: 2,
    for_s: 60,
    open_on: "degraded",
    degraded: { latency_ms: 500, certificate_days: 14, ignore_minority: true },
    flapping: { off: true, half_life_s: 600, begin: 1.2, end: 0.1 },
  };
  for (const policy of [full, {}, { quorum: { rule: "all" as const } }, { down_after: 2 }])
    expect(policyOf(ruleDraftOf(policy))).toEqual({ ok: true, policy });
});

test("a count goes with its rule only; commas are points; what is no number is said at its field", () => {
  const draft = { ...ruleDraftOf({}), count: "3", begin: "1,7" };
  expect(policyOf(draft)).toEqual({ ok: true, policy: { flapping: { begin: 1.7 } } });
  expect(policyOf({ ...draft, quorum: "count" })).toEqual({
    ok: true,
    policy: { quorum: { rule: "count", count: 3 }, flapping: { begin: 1.7 } },
  });
  const wrong = policyOf({ ...draft, downAfter: "2.5", forS: "soon", end: "x" });
  expect(wrong).toEqual({
    ok: false,
    errors: { downAfter: "Enter a whole number.", forS: "Enter a whole number.", end: "Enter a number." },
  });
});

test("the server's mistakes land at their fields, others at the form", () => {
  const problem = { type: "", title: "Unprocessable", status: 422 };
  expect(
    ruleErrorsOf({
      ...problem,
      errors: [
        { pointer: "/policy/down_after", code: "out_of_range", message: "want 1 to 10 results" },
        { pointer: "/from", code: "too_large", message: "ask for fewer days" },
      ],
    }),
  ).toEqual({ downAfter: "Want 1 to 10 results.", form: "Ask for fewer days." });
  expect(ruleErrorsOf({ ...problem, status: 412 }).form).toMatch(/Somebody else/);
  expect(ruleErrorsOf({ ...problem, detail: "ClickHouse cannot be reached" }).form).toBe(
    "ClickHouse cannot be reached.",
  );
});

const incident = (from: number, to: number | null, paged: number | null): ReplayedIncident => {
  const at = (minute: number) => new Date(Date.UTC(2026, 2, 1, 12, minute)).toISOString();
  return {
    first_slot: at(from),
    began_at: at(from),
    ended_at: to === null ? null : at(to),
    paged_at: paged === null ? null : at(paged),
    severity: "down",
    false_alarm: false,
  };
};
const replayed = (items: ReplayedIncident[], change: Partial<ReplayedPolicy> = {}): ReplayedPolicy => ({
  policy: {},
  incidents: items.length,
  pages: items.filter((one) => one.paged_at).length,
  false_alarms: 0,
  delay_p50_s: null,
  delay_p99_s: null,
  delay_most_s: null,
  downtime_s: 0,
  still_open: 0,
  items,
  left_out: 0,
  ...change,
});

test("outages that overlap are one row, the newest first", () => {
  const now = replayed([incident(1, 2, 1), incident(10, 20, 10), incident(40, null, 40)]);
  const proposed = replayed([incident(11, 20, 12), incident(30, 31, 30), incident(42, null, 43)]);
  const rows = sideBySide(now, proposed, new Date(Date.UTC(2026, 2, 1, 13)).toISOString());
  expect(rows.map((row) => [new Date(row.at).getUTCMinutes(), row.now !== null, row.proposed !== null])).toEqual([
    [40, true, true],
    [30, false, true],
    [10, true, true],
    [1, true, false],
  ]);
});

test("what changes is said in a sentence", () => {
  const two = replayed([], { pages: 2, false_alarms: 1 });
  expect(verdictOf(two, two)).toBe("As many pages as now.");
  expect(verdictOf(two, replayed([], { pages: 1 }))).toBe("1 fewer page, 1 fewer false alarm.");
  const slow = replayed([], { pages: 2, false_alarms: 1, delay_p50_s: 70 });
  expect(verdictOf({ ...two, delay_p50_s: 10 }, slow)).toBe("As many pages as now, usually 1 min later.");
  expect(verdictOf(slow, { ...two, delay_p50_s: 10 })).toBe("As many pages as now, usually 1 min sooner.");
  expect(verdictOf(two, replayed([], { pages: 5, false_alarms: 3 }))).toBe("3 more pages, 2 more false alarms.");
});
