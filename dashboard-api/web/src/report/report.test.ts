import { expect, test } from "vitest";
import type { Figures, Report, ReportTarget } from "../api/types";
import { isMonth, monthAt, monthName, monthPlus } from "./month";
import { bounds, byName, downtime, measured, sentence, times, uptimeText } from "./words";

const figures = (f: Partial<Figures> = {}): Figures => ({
  up: 0,
  degraded: 0,
  down: 0,
  unknown: 0,
  missed: 0,
  planned: 0,
  uptime: null,
  coverage: null,
  low: null,
  high: null,
  uptime_percent: null,
  checks: 0,
  excluded: 0,
  downtime_minutes: 0,
  revised_at: null,
  ...f,
});
const target = (id: number, name: string, f: Partial<Figures>, incidents: number[] = []): ReportTarget => ({
  target_id: id,
  name,
  folded: figures(f),
  incidents: incidents.map((downtime_minutes) => ({ from: "", to: "", down_slots: 1, downtime_minutes })),
  corrections: [],
});

test("months", () => {
  expect(monthPlus("2026-01", -1)).toBe("2025-12");
  expect(monthPlus("2026-12", 1)).toBe("2027-01");
  expect(monthAt(Date.UTC(2026, 1, 28, 23, 30), "Europe/Berlin")).toBe("2026-03");
  expect(monthAt(Date.UTC(2026, 2, 1, 2), "America/New_York")).toBe("2026-02");
  expect(monthName("2026-03")).toBe("March 2026");
  expect(monthName("nonsense")).toBe("nonsense");
  expect(["2026-03", "2026-13", "26-03", "2026-3"].map(isMonth)).toEqual([true, false, false, false]);
});

test("an uptime is never better than it was", () => {
  expect(uptimeText(figures({ uptime: 0.999995, uptime_percent: "99.999" }))).toBe("99.999%");
  expect(uptimeText(figures({ uptime: 1, uptime_percent: "100.000" }))).toBe("100%");
  expect(uptimeText(figures())).toBe("–");
  expect(bounds(figures({ low: 0.97, high: 0.99 }))).toBe("between 97.000% and 99.000%");
  expect(bounds(figures({ low: 0.97, high: 0.97 }))).toBe("");
  expect(measured(figures())).toBe("nothing was due");
  expect(measured(figures({ planned: 3, missed: 3 }))).toBe("nothing was measured");
  expect(measured(figures({ planned: 3, checks: 1 }))).toBe("1 check");
});

test("how often a target was down", () => {
  expect(times(target(1, "a", { checks: 5 }))).toBe("never down");
  expect(times(target(1, "a", {}))).toBe("");
  expect(times(target(1, "a", { checks: 5 }, [3]))).toBe("once");
  expect(times(target(1, "a", { checks: 5 }, [3, 12]))).toBe("2 times, at most 12\u00a0min");
});

test("a downtime breaks between its parts only", () => {
  expect([0, 5, 5 + 1 / 3].map(downtime)).toEqual(["none", "5\u00a0min", "5\u00a0min 20\u00a0s"]);
});

test("the month in a sentence", () => {
  const report = (...targets: ReportTarget[]) => sentence({ targets } as unknown as Report);
  expect(report(target(1, "a", {}))).toBe("1 target. Nothing was measured.");
  expect(report(target(1, "a", { checks: 2 }), target(2, "b", { checks: 1 }))).toBe("2 targets. None was down.");
  expect(report(target(1, "a", { checks: 2, down: 1, downtime_minutes: 61 }), target(2, "b", { checks: 1 }))).toBe(
    "2 targets. 1 was down, for 1 h 1 min in all.",
  );
  expect(
    byName([target(3, "shop 10", {}), target(2, "Shop 9", {}), target(1, "shop 10", {})]).map((t) => t.target_id),
  ).toEqual([2, 1, 3]);
});
