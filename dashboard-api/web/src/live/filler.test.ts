import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { LatestResults } from "../api/types";
import { HistoryFiller } from "./filler";
import { LiveStore } from "./store";
import { iso, liveTarget, snapshot, start } from "./testdata";

beforeEach(() => vi.useFakeTimers({ now: start }));
afterEach(() => vi.useRealTimers());

test("a copy of an older answer is shown, and asked for again until it is none", async () => {
  const store = new LiveStore();
  store.applySnapshot(snapshot(1, [liveTarget(1)]));
  const at = iso(start - 60_000);
  const row = { region: "eu", scheduled_at: at, status: "up" as const, failure: "", reason: "", http_status: 200 };
  const answer: LatestResults = {
    items: [{ target_id: 1, results: [{ ...row, total_us: 1000, checked_at: at }] }],
    stale_since: at,
  };
  const ask = vi.fn(async () => ({ ...answer }));
  const filler = new HistoryFiller(store, ask);
  await filler.want([1]);
  expect(store.get(1)?.slots.some((slot) => slot.at === Date.parse(at))).toBe(true);
  await vi.advanceTimersByTimeAsync(11_000);
  expect(ask).toHaveBeenCalledTimes(3);
  delete answer.stale_since;
  await vi.advanceTimersByTimeAsync(5_000);
  expect(store.unfilled([1])).toEqual([]);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(ask).toHaveBeenCalledTimes(4);
});
