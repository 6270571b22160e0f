import { describe, expect, it } from "vitest";
import { groupByTag, ungrouped } from "./groups";
import { hiddenOf, inParts, inTurn, nothing, select } from "./selection";

describe("a selection", () => {
  const shown = ungrouped([5, 3, 8, 1]);
  it("takes one, and gives it back", () => {
    const one = select(nothing, shown, 3, false);
    expect([...one.ids]).toEqual([3]);
    expect([...select(one, shown, 3, false).ids]).toEqual([]);
  });
  it("takes all between the last and this, in the order shown", () => {
    const all = select(select(nothing, shown, 8, false), shown, 5, true);
    expect([...all.ids].sort()).toEqual([3, 5, 8]);
  });
  it("takes one when there is nothing to begin a range at", () => {
    expect([...select(nothing, shown, 8, true).ids]).toEqual([8]);
    expect([...select({ ids: new Set([9]), anchor: 9 }, shown, 8, true).ids]).toEqual([9, 8]);
  });
  it("goes through the groups from where it began to where it ends, though a target stands in several", () => {
    const tags = new Map([
      [1, ["a", "c"]],
      [2, ["a"]],
      [3, ["b"]],
      [4, ["c"]],
    ]);
    const grouped = groupByTag([1, 2, 3, 4], (id) => tags.get(id) ?? []); // a: 1 2, b: 3, c: 1 4
    const range = (from: number, of: string, to: number, until: string) =>
      [...select(select(nothing, grouped, from, false, of), grouped, to, true, until).ids].sort();
    expect(range(1, "c", 4, "c")).toEqual([1, 4]);
    expect(range(1, "a", 4, "c")).toEqual([1, 2, 3, 4]);
    expect(range(3, "b", 1, "c")).toEqual([1, 3]);
    expect(range(3, "b", 1, "a")).toEqual([1, 2, 3]);
  });
  it("knows which of it a filter does not show", () => {
    expect([...hiddenOf(new Set([3, 9, 1]), [5, 3, 8])]).toEqual([9, 1]);
    expect(hiddenOf(new Set([3, 5]), [5, 3, 8]).size).toBe(0);
  });
});

describe("many by parts", () => {
  const items = [1, 2, 3, 4, 5].map((id) => ({ id }));
  it("says which were refused, goes on after a part that failed, and ends when it is stopped", async () => {
    const parts: number[][] = [];
    const seen: [number, number][] = [];
    const result = await inParts(
      items,
      async (part) => {
        parts.push(part.map(({ id }) => id));
        if (parts.length === 2) throw new Error("away");
        return new Map([[1, "taken"]]);
      },
      (done, failed) => seen.push([done, failed]),
      () => false,
      2,
    );
    expect(parts).toEqual([[1, 2], [3, 4], [5]]);
    expect(result.done.map(({ id }) => id)).toEqual([2, 5]);
    expect(result.failed.map(({ item, error }) => [item.id, String(error)])).toEqual([
      [1, "taken"],
      [3, "Error: away"],
      [4, "Error: away"],
    ]);
    expect(seen).toEqual([
      [1, 1],
      [1, 3],
      [2, 3],
    ]);
    let asked = 0;
    const halted = await inParts(
      items,
      async () => {
        asked++;
        return new Map();
      },
      () => {},
      () => asked === 1,
      2,
    );
    expect(halted.done.map(({ id }) => id)).toEqual([1, 2]);
  });
});

describe("many in turn", () => {
  it("tries all, a few at a time, and says which failed", async () => {
    let now = 0;
    let most = 0;
    const seen: number[] = [];
    const result = await inTurn(
      [1, 2, 3, 4, 5],
      async (n) => {
        most = Math.max(most, ++now);
        await Promise.resolve();
        now--;
        if (n === 2) throw new Error("no");
      },
      (done, failed) => seen.push(done + failed),
      () => false,
      2,
    );
    expect(most).toBe(2);
    expect(result.done.sort()).toEqual([1, 3, 4, 5]);
    expect(result.failed.map(({ item }) => item)).toEqual([2]);
    expect(seen.at(-1)).toBe(5);
  });
  it("stops when asked to", async () => {
    let n = 0;
    const { done } = await inTurn(
      [1, 2, 3],
      async () => void n++,
      () => {},
      () => n >= 1,
      1,
    );
    expect(done).toEqual([1]);
  });
});
