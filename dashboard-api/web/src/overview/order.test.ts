import { expect, test } from "vitest";
import type { State } from "../api/types";
import { arrange, hold, NameOrder, nameKey } from "./order";

const row = (id: number, name: string, state: State, p50_us: number | null = null, tags: string[] = []) => ({
  id,
  name,
  url: `https://${name}.example/`,
  state,
  p50_us,
  tags,
  kind: "http" as const,
  regions: [] as string[],
});
const rows = [
  row(1, "shop", "up", 10, ["eu", "prod"]),
  row(2, "api 10", "down", null, ["prod"]),
  row(3, "api 9", "up", 30),
  row(4, "old", "paused"),
];
const ids = (wish: Partial<Parameters<typeof arrange>[1]>) =>
  arrange(rows, { text: "", state: undefined, tags: [], sort: "state", ...wish }).map((r) => r.id);

test("the worst comes first, then names in human order", () => {
  expect(ids({})).toEqual([2, 3, 1, 4]);
  expect(ids({ sort: "name" })).toEqual([3, 2, 4, 1]);
  expect(ids({ sort: "slow" })).toEqual([3, 1, 2, 4]);
});

test("what is planned stands after what is not known, and before what is up", () => {
  const mixed = [row(1, "a", "up"), row(2, "b", "maintenance"), row(3, "c", "no_data"), row(4, "d", "paused")];
  expect(arrange(mixed, { text: "", state: undefined, sort: "state", tags: [] }).map((r) => r.id)).toEqual([
    3, 2, 1, 4,
  ]);
  expect(arrange(mixed, { text: "", state: "maintenance", sort: "state", tags: [] }).map((r) => r.id)).toEqual([2]);
});

test("search takes every word, in name or address; the state filters", () => {
  expect(ids({ text: "API example" })).toEqual([2, 3]);
  expect(ids({ text: "api", state: "up" })).toEqual([3]);
  expect(ids({ text: "nothing" })).toEqual([]);
});

test("a held list keeps its places and counts what would change", () => {
  const exists = () => true;
  expect(hold([1, 2, 3], [1, 2, 3], exists)).toEqual({ ids: [1, 2, 3], pending: 0 });
  expect(hold([1, 2, 3], [3, 1, 2], exists)).toEqual({ ids: [1, 2, 3], pending: 1 });
  expect(hold([1, 2, 3], [1, 3], exists), "filtered out: stays until asked").toEqual({ ids: [1, 2, 3], pending: 1 });
  expect(
    hold([1, 2, 3], [1, 3], (id) => id !== 2),
    "deleted: goes at once",
  ).toEqual({ ids: [1, 3], pending: 0 });
  expect(hold([1, 2], [9, 1, 2], exists), "new: at the end").toEqual({ ids: [1, 2, 9], pending: 1 });
});

test("tags narrow the list to what has them all, and are found by the search", () => {
  expect(ids({ tags: ["prod"] })).toEqual([2, 1]);
  expect(ids({ tags: ["prod", "eu"] })).toEqual([1]);
  expect(ids({ text: "prod api" })).toEqual([2]);
});

test("the order of names is remembered, and follows renames, new targets and those that are gone", () => {
  const order = new NameOrder();
  const sorted = (...all: ReturnType<typeof row>[]) => order.sort(all).map((r) => r.name);
  expect(sorted(...rows)).toEqual(["api 9", "api 10", "old", "shop"]);
  expect(sorted(...[...rows].reverse())).toEqual(["api 9", "api 10", "old", "shop"]);
  const renamed = rows.map((r) => (r.id === 1 ? row(1, "a shop", "up") : r));
  expect(sorted(...renamed)).toEqual(["a shop", "api 9", "api 10", "old"]);
  expect(sorted(...renamed, row(5, "api 2", "up"))).toEqual(["a shop", "api 2", "api 9", "api 10", "old"]);
  expect(sorted(...renamed.slice(1))).toEqual(["api 9", "api 10", "old"]);
  expect(order.sort([row(9, "x", "up"), row(8, "X", "up"), row(7, "x", "up")]).map((r) => r.id)).toEqual([7, 8, 9]);
});

test("what a search looks through is remembered, and follows addresses and tags", () => {
  const order = new NameOrder();
  const found = (text: string, ...all: ReturnType<typeof row>[]) =>
    arrange(all, { text, state: undefined, tags: [], sort: "name" }, order).map((r) => r.id);
  expect(found("prod", ...rows)).toEqual([2, 1]);
  expect(found("prod", ...rows.map((r) => ({ ...r, tags: [...r.tags] })))).toEqual([2, 1]);
  const tagged = rows.map((r) => (r.id === 3 ? { ...r, tags: ["prod"] } : { ...r, tags: [] }));
  expect(found("prod", ...tagged)).toEqual([3]);
  const moved = tagged.map((r) => (r.id === 4 ? { ...r, url: "https://prod.example" } : r));
  expect(found("prod", ...moved)).toEqual([3, 4]);
});

test("keys of names compare as the names do", () => {
  const names = new Intl.Collator("en", { numeric: true, sensitivity: "base" });
  let seed = 1;
  const random = (n: number) => {
    seed = (seed * 48271) % 0x7fffffff;
    return seed % n;
  };
  const text = () =>
    Array.from({ length: 1 + random(8) }, () =>
      random(3) === 0 ? String(random(120)).padStart(random(5), "0") : String.fromCharCode(32 + random(95)),
    ).join("");
  for (let i = 0; i < 20_000; i++) {
    const [a, b] = [text(), random(4) === 0 ? text().toUpperCase() : text()];
    const [left, right] = [nameKey(a) ?? "", nameKey(b) ?? ""];
    expect(left < right ? -1 : left > right ? 1 : 0, `${a} and ${b}`).toBe(names.compare(a, b));
  }
  expect(nameKey("Größe")).toBeNull();
  const foreign = [row(1, "zoo", "up"), row(2, "Ärger", "up"), row(3, "b", "up")];
  expect(new NameOrder().sort(foreign).map((r) => r.id)).toEqual([2, 3, 1]);
});

test("a region shows what is checked from it: all without a choice, and nothing that pings by itself", () => {
  const placed = [
    row(1, "everywhere", "up"),
    { ...row(2, "here", "up"), regions: ["eu", "us"] },
    { ...row(3, "there", "up"), regions: ["us"] },
    { ...row(4, "job", "up"), kind: "heartbeat" as const },
  ];
  const of = (region: string | undefined) =>
    arrange(placed, { text: "", state: undefined, tags: [], sort: "name", region }).map((r) => r.id);
  expect(of(undefined)).toEqual([1, 2, 4, 3]);
  expect(of("eu")).toEqual([1, 2]);
  expect(of("us")).toEqual([1, 2, 3]);
});
