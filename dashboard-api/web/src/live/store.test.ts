import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { SPARE_SLOTS } from "../api/early";
import type { Target } from "../api/types";
import { HistoryFiller } from "./filler";
import { LiveStore, type Transition } from "./store";
import { iso, liveTarget, snapshot, start, tick } from "./testdata";

beforeEach(() => {
  vi.useFakeTimers({ now: start });
});
afterEach(() => {
  vi.useRealTimers();
});

function loaded(...items: ReturnType<typeof liveTarget>[]): LiveStore {
  const store = new LiveStore();
  store.applySnapshot(snapshot(1, items));
  return store;
}

test("a target turns to no data when its evidence runs out, and the silent region is named", () => {
  const region = { ...tick(0), scheduled_at: iso(start), checked_at: iso(start), http_status: 200, fresh: true };
  const store = loaded(liveTarget(1, { region_states: [region] }));
  const seen: Transition[] = [];
  store.onTransition((t) => seen.push(t));
  vi.setSystemTime(start + 25_000);
  store.sweep();
  expect(store.get(1)?.state).toBe("up");
  vi.setSystemTime(start + 25_001);
  store.sweep();
  expect(store.get(1)).toMatchObject({ state: "no_data", stale: true, since: iso(start + 25_000) });
  expect(store.get(1)?.why).toContain("region eu");
  expect(store.getList().counts).toMatchObject({ up: 0, no_data: 1 });
  expect(seen).toEqual([{ id: 1, name: "target 1", from: "up", to: "no_data" }]);
});

test("when a target was maintained is as it was told last, and a target says it no more once its bar is past it", () => {
  const over = [{ from: iso(start), to: iso(start + 10_000) }];
  const store = loaded(liveTarget(1, { maintained: over }), liveTarget(2));
  expect(store.get(1)?.maintained).toEqual(over);
  expect(store.get(2)?.maintained).toEqual([]);
  store.applyOps([{ op: "upsert", id: 1, item: liveTarget(1) }]);
  expect(store.get(1)?.maintained).toEqual([]);
});

test("what was seen of another URL is nothing of the one just saved", () => {
  const store = loaded(liveTarget(1));
  const saved = { ...liveTarget(1), spec_version: 2 } as unknown as Target;
  store.applySaved({ ...saved, name: "renamed" });
  expect(store.get(1)).toMatchObject({ name: "renamed", state: "up" });
  const url = "https://other.example/";
  store.applySaved({ ...saved, url });
  expect(store.get(1)).toMatchObject({ url, state: "no_data", fresh_until: null, region_states: [] });
  store.applyOps([{ op: "upsert", id: 1, item: liveTarget(1, { url }) }]);
  store.applySaved({ ...saved, url }); // an answer that comes after its delta
  expect(store.get(1)?.state).toBe("up");
});

test("freshness is judged by the server's clock", () => {
  vi.setSystemTime(start + 3_600_000); // this machine is an hour fast
  const store = loaded(liveTarget(1));
  store.sweep();
  expect(store.get(1)?.state).toBe("up");
  vi.setSystemTime(start + 3_600_000 + 25_001);
  store.sweep();
  expect(store.get(1)?.state).toBe("no_data");
});

test("a time of this machine is told by the server's clock", () => {
  vi.setSystemTime(start + 3_600_000); // an hour fast
  const store = loaded();
  expect(store.serverTime(start + 3_605_000)).toBe(start + 5_000);
  expect(store.serverNow()).toBe(start);
});

test("a fresh result ends no data; a paused target never goes stale", () => {
  const store = loaded(liveTarget(1), liveTarget(2, { state: "paused", active: false }));
  vi.setSystemTime(start + 60_000);
  store.sweep();
  expect(store.get(2)?.state).toBe("paused");
  store.applyOps([
    { op: "upsert", id: 1, item: liveTarget(1, { fresh_until: iso(start + 90_000), ticks: [tick(6)] }) },
  ]);
  expect(store.get(1)).toMatchObject({ state: "up", stale: false });
  expect(store.get(1)?.slots).toHaveLength(1);
});

test("the first rows and the counts of all come before the snapshot, and go when it does not come", () => {
  const store = new LiveStore();
  const counts = { up: 7, degraded: 0, down: 2, maintenance: 0, no_data: 0, paused: 1 };
  const down = liveTarget(3, { state: "down", ticks: [tick(0), tick(1, "down")] });
  const opening = { now: iso(start), total: 10, counts, items: [down], regions: [] };
  store.applyOverview(opening);
  expect(store.getList()).toMatchObject({ begun: true, ready: false, total: 10, counts });
  expect(store.get(3)?.slots).toHaveLength(2);
  vi.setSystemTime(start + 10_000);
  store.sweep();
  expect(store.getList().begun).toBe(true);
  vi.setSystemTime(start + 10_001);
  store.sweep();
  expect(store.getList()).toMatchObject({ begun: false, ready: false, total: 0 });
  expect(store.get(3)).toBeUndefined();

  store.applyOverview({ ...opening, now: iso(start + 10_001) });
  store.applySnapshot(snapshot(1, [liveTarget(1), { ...down, ticks: [tick(1, "down")] }], "e1", start + 10_500));
  expect(store.getList()).toMatchObject({ begun: true, ready: true, total: 2, counts: { up: 1, down: 1 } });
  expect(store.get(3)?.slots, "ticks that were there stay").toHaveLength(2);
  store.applyOverview(opening);
  expect(store.getList().total, "an answer that comes too late says nothing").toBe(2);
});

test("deltas carry only new ticks: earlier ones stay", () => {
  const store = loaded(liveTarget(1, { ticks: [tick(0), tick(1)] }));
  store.applyOps([{ op: "upsert", id: 1, item: liveTarget(1, { ticks: [tick(2, "down")] }) }]);
  expect(store.get(1)?.slots.map((s) => s.mark)).toEqual(["up", "up", "down"]);
});

test("one target's change wakes only its row; a state change also the list", () => {
  const store = loaded(liveTarget(1), liveTarget(2));
  const woken: string[] = [];
  store.subscribeRow(1, () => woken.push("row 1"));
  store.subscribeRow(2, () => woken.push("row 2"));
  store.subscribeList(() => woken.push("list"));
  store.applyOps([{ op: "upsert", id: 1, item: liveTarget(1, { p50_us: 5 }) }]);
  expect(woken).toEqual(["row 1"]);
  store.applyOps([{ op: "upsert", id: 2, item: liveTarget(2, { state: "down" }) }]);
  expect(woken).toEqual(["row 1", "row 2", "list"]);
  expect(store.getList().counts).toMatchObject({ up: 1, down: 1 });
});

test("a snapshot drops what is gone, and a hidden target stays hidden", () => {
  const store = loaded(liveTarget(1), liveTarget(2), liveTarget(3));
  store.hide(2);
  store.applySnapshot(snapshot(2, [liveTarget(2), liveTarget(3)]));
  expect(store.all().map((t) => t.id)).toEqual([3]);
  expect(store.getList().total).toBe(1);
  store.unhide(2);
  expect(store.getList().total).toBe(2);
});

test("rows are filled once in batches of 50, and again after a gap", async () => {
  const items = Array.from({ length: 70 }, (_, i) => liveTarget(i + 1));
  const store = loaded(...items);
  const ids = items.map((item) => item.id);
  const asked: number[] = [];
  const filler = new HistoryFiller(store, async (batch) => {
    asked.push(batch.length);
    const results = [{ ...tick(3), scheduled_at: tick(3).at, http_status: 200, checked_at: null }];
    return { items: batch.map((target_id) => ({ target_id, results })) };
  });
  await filler.want(ids);
  expect(asked).toEqual([50, 20]);
  expect(store.get(70)?.slots).toHaveLength(1);
  await filler.want(ids);
  expect(asked).toEqual([50, 20]);
  store.markGap();
  await filler.want([1, 2]);
  expect(asked).toEqual([50, 20, 2]);
});

test("a gap while an answer is under way is filled again, and a failed request is repeated", async () => {
  const store = loaded(liveTarget(1));
  let calls = 0;
  const filler = new HistoryFiller(store, async () => {
    calls++;
    if (calls === 1) store.markGap();
    if (calls === 3) throw new Error("unavailable");
    return { items: [] };
  });
  await filler.want([1]);
  expect(calls).toBe(2);
  expect(store.unfilled([1])).toEqual([]);
  store.markGap();
  await filler.want([1]);
  expect(calls).toBe(3);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(calls).toBe(4);
  expect(store.unfilled([1])).toEqual([]);
});

test("maintenance is counted by itself, and does not go stale: it says nothing of what is measured", () => {
  const store = loaded(liveTarget(1), liveTarget(2));
  const seen: Transition[] = [];
  store.onTransition((t) => seen.push(t));
  store.applyOps([{ op: "upsert", id: 1, item: liveTarget(1, { state: "maintenance" }) }]);
  vi.setSystemTime(start + 25_001);
  store.sweep();
  expect(store.get(1)?.state).toBe("maintenance");
  expect(store.getList().counts).toEqual({ up: 0, degraded: 0, down: 0, maintenance: 1, no_data: 1, paused: 0 });
  expect(seen[0]).toMatchObject({ id: 1, from: "up", to: "maintenance" });
});

const many = (n: number) => Array.from({ length: n }, (_, i) => liveTarget(i + 1));

test("of many targets only the bars that are looked at, or were lately, are kept whole", () => {
  const store = loaded(...many(1_000));
  const most = SPARE_SLOTS / 1_000;
  const ids = many(1_000).map((item) => item.id);
  const leave = store.subscribeRow(1, () => {});
  const result = (id: number, slot: number) =>
    store.applyOps([{ op: "upsert", id, item: liveTarget(id, { ticks: [tick(slot)] }) }]);
  store.mergeLatest({ items: [] }, ids, store.historyGeneration);
  for (let slot = 0; slot < most + 5; slot++) for (const id of [1, 2]) result(id, slot);
  expect(store.get(1)?.slots).toHaveLength(most + 5);
  expect(store.get(2)?.slots).toHaveLength(most);
  expect(store.get(2)?.slots.at(-1)?.at).toBe(start + (most + 4) * 10_000);
  expect(store.unfilled(ids), "what was cut is asked for when it is seen").toEqual([2]);
  leave();
  result(1, most + 5);
  expect(store.get(1)?.slots, "it has just left the screen").toHaveLength(most + 6);
  for (const id of ids.slice(1, 400)) store.subscribeRow(id, () => {})();
  result(1, most + 6);
  expect(store.get(1)?.slots).toHaveLength(most);
});

test("in a long list the changes of a tenth of a second are told at once, the first without waiting", () => {
  const store = loaded(...many(1_000));
  vi.advanceTimersByTime(1_000);
  let told = 0;
  store.subscribeList(() => told++);
  const down = (id: number) => store.applyOps([{ op: "upsert", id, item: liveTarget(id, { state: "down" }) }]);
  down(1);
  expect([told, store.getList().counts.down]).toEqual([1, 1]);
  for (let id = 2; id <= 50; id++) down(id);
  expect(store.get(50)?.state, "a row does not wait").toBe("down");
  expect(told).toBe(1);
  vi.advanceTimersByTime(100);
  expect([told, store.getList().counts.down]).toEqual([2, 50]);
  vi.advanceTimersByTime(10_000);
  expect(told).toBe(2);
});

test("a page that needs long for a list of many is told of it less often, and does at once what a person does", async () => {
  const store = loaded(...many(1_000));
  let told = 0;
  store.subscribeList(() => {
    told++;
    // As a page does it: at the end of the task.
    queueMicrotask(() => vi.setSystemTime(Date.now() + 150));
  });
  const goesDown = (id: number) => store.applyOps([{ op: "upsert", id, item: liveTarget(id, { state: "down" }) }]);
  await vi.advanceTimersByTimeAsync(100);
  goesDown(1);
  await vi.advanceTimersByTimeAsync(0);
  expect(told).toBe(1);
  goesDown(2);
  await vi.advanceTimersByTimeAsync(290);
  expect(told, "before twice the time it took").toBe(1);
  await vi.advanceTimersByTimeAsync(20);
  expect(told).toBe(2);
  store.hide(3);
  expect(told).toBe(3);
});

test("what is assumed of many is shown at once, and taken back of those that stay as they were", () => {
  const store = loaded(liveTarget(1), liveTarget(2), liveTarget(3), liveTarget(4, { state: "paused", active: false }));
  store.assume([1, 2, 3, 99], { active: false });
  expect(store.getList().counts).toMatchObject({ up: 0, paused: 4 });
  expect(store.get(1)).toMatchObject({ state: "paused", active: false });
  // Of one of them the server says something meanwhile: that counts.
  store.applyOps([{ op: "upsert", id: 3, item: liveTarget(3, { state: "down" }) }]);
  store.settle([1], true);
  store.settle([2, 3, 99], false);
  expect([1, 2, 3].map((id) => store.get(id)?.state)).toEqual(["paused", "up", "down"]);
  expect(store.get(2)).toMatchObject({ active: true, why: "" });
  store.settle([1], false); // it was said to be stored
  expect(store.get(1)?.state).toBe("paused");

  store.assume([4], { active: true, interval_s: 30 });
  expect(store.get(4)).toMatchObject({ state: "no_data", active: true, interval_s: 30 });
  expect(store.getList().counts).toMatchObject({ no_data: 1 });
});

test("regions are as they were told last, by name", () => {
  const region = (name: string, live: boolean) => ({ region: name, probers: live ? 1 : 0, live, heartbeat_at: null });
  const store = loaded();
  let woken = 0;
  store.subscribeList(() => woken++);
  store.applyRegions([region("eu", true), region("us", true)]);
  store.applyRegionOps([
    { op: "upsert", id: "us", item: region("us", false) },
    { op: "upsert", id: "ap", item: region("ap", true) },
    { op: "remove", id: "eu" },
  ]);
  expect(store.getList().regions).toEqual([region("ap", true), region("us", false)]);
  expect(woken).toBe(2);
});
