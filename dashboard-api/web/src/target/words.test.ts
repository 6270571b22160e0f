import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { Series } from "../api/types";

// What the modules say is fixed when they are loaded: so the language comes first, and other tests load their own.
beforeAll(async () => {
  vi.resetModules();
  await (await import("../words/t")).speak("de");
});
afterAll(() => void vi.resetModules());

test("a table is for people, and its file is the same in every language", async () => {
  const { filed, plain, share, shown } = await import("./words");
  const row = ["eu", 1.5, null, share(0.999559, 3), share(1, 3), share(null, 1)];
  expect(filed(row)).toEqual(["eu", 1.5, null, "99.955%", "100%", "–"]);
  expect(row.slice(0, 3).map(shown)).toEqual(["eu", "1,5", "–"]);
  expect(shown(share(0.999559, 3))).toMatch(/^99,955/);
  expect(plain(12_345.678)).toBe("12345,678");
});

test("no downtime is said in words, and any is as long as it was", async () => {
  const { downtimeOf } = await import("./words");
  expect(downtimeOf({ downtime_minutes: 0 })).toBe("keine Ausfallzeit");
  expect(downtimeOf({ downtime_minutes: 1 / 6 })).toBe("10 s Ausfallzeit");
  expect(downtimeOf({ downtime_minutes: 90 })).toBe("1 h 30 min Ausfallzeit");
});

test("the columns of a series are the same in every language", async () => {
  const { seriesCsv } = await import("./seriesCsv");
  const { phases } = await import("./phases");
  const [head, ...rows] = seriesCsv({ x: [] } as unknown as Series).split("\r\n");
  expect(head).toMatch(/^From \(UTC\),Checks,.*,Name look-up ms,Connect ms,TLS ms,Wait for answer ms,Transfer ms$/);
  expect([head?.split(",").length, rows]).toEqual([10 + phases.length, [""]]);
});
