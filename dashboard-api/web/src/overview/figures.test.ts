import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { TargetFigures } from "../api/figures";
import { daysLeft, FigureKeeper, known } from "./figures";

const start = Date.parse("2026-03-01T12:00:00Z");
beforeEach(() => vi.useFakeTimers({ now: start }));
afterEach(() => vi.useRealTimers());

const figures = (id: number, uptime = 1): TargetFigures => ({
  target_id: id,
  last_24h: { uptime, coverage: 1 },
  last_30d: { uptime, coverage: 1 },
  cert_not_after: null,
});

function keeper({ without = [] as number[] } = {}) {
  const asked: number[][] = [];
  const state = { hidden: false, broken: false, told: 0, uptime: 1, until: null as string | null };
  const one = new FigureKeeper(
    async (ids) => {
      asked.push(ids);
      if (state.broken) throw new Error("no network");
      const items = ids.filter((id) => !without.includes(id)).map((id) => figures(id, state.uptime));
      return state.until ? { items, settled_until: state.until } : { items };
    },
    () => state.hidden,
  );
  one.subscribe(() => state.told++);
  return { one, asked, state };
}

test("rows that stand on the screen are asked for in one question, and come in one change", async () => {
  const { one, asked, state } = keeper();
  one.show([1, 2, 3]);
  expect(asked).toEqual([]);
  await vi.advanceTimersByTimeAsync(240);
  expect(asked).toEqual([]);
  await vi.advanceTimersByTimeAsync(20);
  expect(asked).toEqual([[1, 2, 3]]);
  expect(state.told).toBe(1);
  expect(one.get(2)).toEqual(figures(2));
});

test("nothing is asked for while rows pass by, but for those that stay for long", async () => {
  const { one, asked } = keeper();
  for (let first = 1; first <= 60; first++) {
    one.show([999, first, first + 1, first + 2]);
    await vi.advanceTimersByTimeAsync(50);
  }
  expect(asked).toEqual([[999]]);
  await vi.advanceTimersByTimeAsync(1000);
  expect(asked.slice(1)).toEqual([[60, 61, 62]]);
});

test("what comes to stand one after the other is a question a second at most", async () => {
  const { one, asked } = keeper();
  for (let n = 1; n <= 20; n++) {
    one.show(Array.from({ length: n }, (_, i) => i + 1));
    await vi.advanceTimersByTimeAsync(100);
  }
  expect(asked.length).toBeLessThanOrEqual(2);
  await vi.advanceTimersByTimeAsync(1000);
  expect(asked.flat().sort((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, i) => i + 1));
});

test("figures are kept for a minute, then asked for again together, as long as they are on the screen", async () => {
  const { one, asked, state } = keeper();
  one.show([1, 2]);
  await vi.advanceTimersByTimeAsync(5_000);
  one.show([1, 2, 3]);
  await vi.advanceTimersByTimeAsync(1_000);
  one.show([]);
  one.show([2, 1, 3]);
  await vi.advanceTimersByTimeAsync(53_000);
  expect(asked).toEqual([[1, 2], [3]]);
  state.uptime = 0.5;
  await vi.advanceTimersByTimeAsync(2_000);
  expect(asked.slice(2)).toEqual([[2, 1, 3]]);
  expect(one.get(3)?.last_24h.uptime).toBe(0.5);
  one.show([]);
  await vi.advanceTimersByTimeAsync(300_000);
  expect(asked).toHaveLength(3);
});

test("nothing is asked for while nobody looks at the page", async () => {
  const { one, asked, state } = keeper();
  state.hidden = true;
  one.show([1]);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(asked).toEqual([]);
  state.hidden = false;
  await vi.advanceTimersByTimeAsync(600);
  expect(asked).toEqual([[1]]);
});

test("without an answer what there was stays, and is asked for again half a minute later", async () => {
  const { one, asked, state } = keeper();
  one.show([1]);
  await vi.advanceTimersByTimeAsync(1_000);
  state.broken = true;
  await vi.advanceTimersByTimeAsync(60_000);
  expect(asked).toHaveLength(2);
  expect(one.get(1)).toEqual(figures(1));
  state.broken = false;
  await vi.advanceTimersByTimeAsync(31_000);
  expect(asked).toHaveLength(3);
});

test("one that is gone has no figures, and is not asked for over and over", async () => {
  const { one, asked } = keeper({ without: [2] });
  one.show([1, 2]);
  await vi.advanceTimersByTimeAsync(20_000);
  expect(asked).toEqual([[1, 2]]);
  expect(one.get(2)).toBeUndefined();
});

test("more than a question may name are several questions", async () => {
  const { one, asked } = keeper();
  one.show(Array.from({ length: 250 }, (_, i) => i + 1));
  await vi.advanceTimersByTimeAsync(300);
  expect(asked.map((ids) => ids.length)).toEqual([100, 100, 50]);
});

test("what the figures lack is as the last answer says", async () => {
  const { one, state } = keeper();
  state.until = "2026-03-01T09:00:00.000Z";
  one.show([1]);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(one.settledUntil()).toBe(state.until);
  state.until = null;
  await vi.advanceTimersByTimeAsync(60_000);
  expect(one.settledUntil()).toBeNull();
});

test("an uptime of which less than half was measured is not known", () => {
  expect(known({ uptime: 1, coverage: 0.5 })).toBe(true);
  expect(known({ uptime: 1, coverage: 0.49 })).toBe(false);
  expect(known({ uptime: null, coverage: 0 })).toBe(false);
  expect(known({ uptime: null, coverage: null })).toBe(false);
});

test("few days of a certificate are two weeks", () => {
  const days = (at: string) => daysLeft(at, start);
  expect(days("2026-04-30T12:00:00Z")).toEqual({ days: 60, few: false });
  expect(days("2026-03-16T11:00:00Z")).toEqual({ days: 14, few: true });
  expect(days("2026-03-16T12:00:00Z")).toEqual({ days: 15, few: false });
  expect(days("2026-03-01T13:00:00Z")).toEqual({ days: 0, few: true });
  expect(days("2026-03-01T11:59:00Z")).toEqual({ days: -1, few: true });
});
