import { expect, test } from "vitest";
import { pairs } from "./keys";

test("two keys are a pair by when they were pressed", () => {
  const pairOf = pairs();
  expect([
    pairOf("g", 5_000),
    pairOf("o", 5_999),
    pairOf("g", 9_000),
    pairOf("o", 10_000),
    pairOf("i", 10_001),
  ]).toEqual(["", "g o", "", "", "o i"]);
});
