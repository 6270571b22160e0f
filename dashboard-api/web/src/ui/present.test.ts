import { expect, test } from "vitest";
import { presentUntil } from "./present";

const asked = { error: null, dataUpdatedAt: 100_000 };

test("an answer is the present until the second question after it should have been answered", () => {
  expect(presentUntil(asked, 5_000)).toBe(115_000);
  expect(presentUntil(asked, 30_000)).toBe(165_000);
});

test("an answer is not the present any more once a question found none, however young it is", () => {
  expect(presentUntil({ ...asked, error: new Error("gone") }, 5_000)).toBe(0);
  expect(presentUntil({ ...asked, error: new Error("gone") }, false)).toBe(0);
});

test("who is told of every change has the present without asking", () => {
  expect(presentUntil(asked, false)).toBe(Number.POSITIVE_INFINITY);
});
