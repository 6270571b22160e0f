import { expect, test } from "vitest";
import { hold } from "./useHeld";

const rows = (text: string) => text.split(" ").filter(Boolean);
const held = (shown: string, wanted: string) => {
  const { items, pending } = hold(rows(shown), rows(wanted), (row) => row[0] ?? "");
  return `${items.join(" ")}, ${pending}`;
};

test("what is held keeps its place, and what is new waits", () => {
  expect(held("a b c", "a b c")).toBe("a b c, 0");
  expect(held("a b c", "x a b c")).toBe("a b c, 1");
  expect(held("a b c", "x y a b")).toBe("a b c, 2"); // a page that has so many
  expect(held("a b c", "a x b")).toBe("a b c, 1");
  expect(held("a b c", "c b a")).toBe("a b c, 0");
});

test("what is gone stays until the list may move, and what is known anew is shown", () => {
  expect(held("a b c", "a1 c1")).toBe("a1 b c1, 1");
  expect(held("a", "")).toBe("a, 1");
  expect(held("a", "x y")).toBe("a, 2");
});

test("older ones, that were asked for, come at once", () => {
  expect(held("a b", "a b c d")).toBe("a b c d, 0");
  expect(held("a b", "x a b c d")).toBe("a b c d, 1");
});
