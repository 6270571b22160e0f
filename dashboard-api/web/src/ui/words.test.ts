import { expect, test } from "vitest";
import { duration, explain, latency, percent, safeHref } from "./words";

test("uptime is never rounded up to 100 %", () => {
  expect(percent(0.99999)).toBe("99.99%");
  expect(percent(1)).toBe("100%");
  expect(percent(null)).toBe("–");
});

test("latencies and durations read naturally", () => {
  expect([420, 9_949, 123_400, 999_499, 1_240_000].map(latency)).toEqual([
    "0.4 ms",
    "9.9 ms",
    "123 ms",
    "999 ms",
    "1.24 s",
  ]);
  expect([5, 65, 600, 3_599, 3_600, 5_400, 90_000].map(duration)).toEqual([
    "5 s",
    "1 min 5 s",
    "10 min",
    "60 min",
    "1 h",
    "1 h 30 min",
    "1 d 1 h",
  ]);
});

test("only web addresses become links", () => {
  expect(safeHref("https://example.com/a")).toBe("https://example.com/a");
  for (const bad of ["javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "", "//x"])
    expect(safeHref(bad)).toBeNull();
});

test("failures and reasons are words", () => {
  expect(explain("status_code", "", 503)).toBe("Unexpected status code 503");
  expect(explain("", "region_down")).toContain("region");
  expect(explain("something_new", "")).toBe("something_new");
});
