import { expect, it } from "vitest";
import { belowOf, placeBody } from "./place";

it("an edit sends what changed, and takes the parent off with null", () => {
  const before = { tags: ["db", "prod"], parent: 4 };
  expect(placeBody(before, before)).toEqual({});
  expect(placeBody({ ...before, tags: ["db"] }, before)).toEqual({ tags: ["db"] });
  expect(placeBody({ tags: [], parent: null }, before)).toEqual({ tags: [], parent_id: null });
});

it("nothing can depend on itself, nor on what depends on it", () => {
  const targets = [
    { id: 5, parent_id: 2 },
    { id: 1, parent_id: null },
    { id: 2, parent_id: 1 },
    { id: 3, parent_id: null },
  ];
  expect([...belowOf(1, targets)].sort()).toEqual([1, 2, 5]);
  expect([...belowOf(5, targets)]).toEqual([5]);
});
