import { expect, test } from "vitest";
import { keepNext, localPath, takeNext } from "./next";

function storage(): Storage {
  const all = new Map<string, string>();
  return {
    getItem: (key: string) => all.get(key) ?? null,
    setItem: (key: string, value: string) => void all.set(key, value),
    removeItem: (key: string) => void all.delete(key),
  } as Storage;
}

test("what was wanted before is given back once, and not for long", () => {
  const kept = storage();
  expect(takeNext(kept, 0)).toBeUndefined();
  keepNext("/targets/7?range=7d", kept, 1_000);
  expect(takeNext(kept, 60_000)).toBe("/targets/7?range=7d");
  expect(takeNext(kept, 60_000)).toBeUndefined();
  keepNext("/targets/7", kept, 0);
  expect(takeNext(kept, 16 * 60_000)).toBeUndefined();
});

test("never another site", () => {
  const kept = storage();
  for (const next of ["//evil.example", "https://evil.example", "/\\evil.example", undefined]) {
    expect(localPath(next)).toBe("/");
    keepNext(next, kept, 0);
    expect(takeNext(kept, 1)).toBe("/");
  }
});
