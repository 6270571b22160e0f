import { describe, expect, it } from "vitest";
import { type Entry, find, score } from "./find";

const entry = (name: string, hint = ""): Entry => ({ key: name, kind: "page", name, hint, run: () => {} });
const pages = [entry("Overview", "g o"), entry("Fleet", "g f"), entry("Add target", "c")];
const targets = [
  { id: 1, name: "Shop", url: "https://shop.example.com", tags: ["prod"], state: "up" as const },
  { id: 2, name: "Old fleet page", url: "https://fleet.example.com", tags: [], state: "down" as const },
];

describe("the palette", () => {
  it("offers pages and actions before anything is typed", () => {
    expect(find("", pages, targets, () => {}).map((one) => one.name)).toEqual(["Overview", "Fleet", "Add target"]);
  });
  it("puts a beginning before a word, and a name before an address", () => {
    expect(find("fle", pages, targets, () => {}).map((one) => one.name)).toEqual(["Fleet", "Old fleet page"]);
    expect(score(["shop"], "Shop", "")).toBeGreaterThan(score(["shop"], "x", "shop"));
  });
  it("wants every word, and finds targets by their address", () => {
    expect(find("example shop", pages, targets, () => {}).map((one) => one.name)).toEqual(["Shop"]);
    expect(find("shop nowhere", pages, targets, () => {})).toEqual([]);
  });
  it("opens the target that was chosen", () => {
    let opened = 0;
    find("shop", pages, targets, (id) => {
      opened = id;
    })[0]?.run();
    expect(opened).toBe(1);
  });
  it("is quick with ten thousand", () => {
    const many = Array.from({ length: 10_000 }, (_, i) => ({
      id: i,
      name: `Service ${i}`,
      url: `https://s${i}.example.com`,
      tags: ["prod"],
      state: "up" as const,
    }));
    expect(find("9999", pages, many, () => {})).toHaveLength(1);
    expect(find("service", pages, many, () => {})).toHaveLength(12);
  });
});
