import { expect, test } from "vitest";
import type { CheckResult } from "../api/checks";
import type { Target } from "../api/types";
import { emptyDraft, toBody } from "./form";
import { termsBody, termsOf } from "./terms";
import { judgedOf, regionsOf, sendsStored, testBody } from "./visit";

test("a new target is tested as it stands, with the timeout that saving would give it", () => {
  const parsed = toBody({ ...emptyDraft, url: "example.com", name: "A", interval: "10", regions: ["eu"] }, null);
  if (!parsed.ok) throw new Error("the form is fine");
  expect(testBody({ ...parsed.body, tags: ["a"], parent_id: 3 }, null)).toEqual({
    url: "https://example.com",
    regions: ["eu"],
    timeout_ms: 5_000,
  });
  expect(testBody({ url: "http://a", interval_s: 60 }, null).timeout_ms).toBe(10_000);
  expect(testBody({ url: "http://a", interval_s: 60, timeout_ms: 700 }, null).timeout_ms).toBe(700);
  expect(testBody({ url: "http://a", interval_s: 1 }, null)).toEqual({ url: "http://a" });
});

test("a saved target is tested as it is stored, with what would be changed", () => {
  expect(testBody({ name: "B", interval_s: 10 }, { id: 7 })).toEqual({ target_id: 7 });
  expect(testBody({ url: "http://b", regions: [], expect: { status: ["204"] } }, { id: 7 })).toEqual({
    target_id: 7,
    url: "http://b",
    regions: [],
    expect: { status: ["204"] },
  });
});

test("what a kind is visited with is tested, and nothing of the rule", () => {
  const saved = { tcp: { send: "a" }, tls: { skip_verify: true }, family: "4" } as const;
  const { body } = termsBody(termsOf(saved), null, ["tcp", "tls"]);
  expect(testBody({ ...body, policy: { down_after: 2 } }, { id: 7 })).toEqual({ target_id: 7, ...saved });
});

test("stored secrets are sent unless the form replaces the part that has them", () => {
  const target = { http: { username: "a", password: "[secret]" }, tcp: null, websocket: null } as unknown as Target;
  expect(sendsStored(target, {})).toBe(true);
  expect(sendsStored(target, { http: null })).toBe(false);
  expect(sendsStored(target, { http: { username: "a", password: "new" } })).toBe(false);
  expect(sendsStored(target, { http: { headers: [{ name: "X", secret: "[secret]" }] } })).toBe(true);
  expect(sendsStored({ ...target, http: null }, {})).toBe(false);
  expect(sendsStored(null, {})).toBe(false);
});

const result = (region: string, status: CheckResult["status"], failed: [number, string][] = [], measured = true) =>
  ({
    region,
    status,
    checked_at: measured ? "2026-03-01T00:00:00Z" : null,
    failed: failed.map(([index, message]) => ({ index, message, severity: "fail" })),
  }) as unknown as CheckResult;

test("regions are in order, also those that have not answered and those that were not asked", () => {
  const eu = result("eu", "up");
  const check = { regions: ["us", "ap"], results: [eu] };
  expect(regionsOf(check)).toEqual([
    ["ap", null],
    ["eu", eu],
    ["us", null],
  ]);
});

test("an assertion passed when every region that judged it says so, and failed when one says so", () => {
  const both = { results: [result("eu", "up"), result("us", "down", [[1, "body is empty"]])] };
  expect(judgedOf(both, 0)).toEqual({ of: "passed" });
  expect(judgedOf(both, 1)).toEqual({ of: "failed", seen: [{ region: "us", message: "body is empty" }] });
  const degraded = { results: [result("eu", "degraded", [[0, "x"]])] };
  expect([judgedOf(degraded, 0)?.of, judgedOf(degraded, 1)?.of]).toEqual(["failed", "passed"]);
});

test("a visit that failed before, or a region that did not measure, judges nothing", () => {
  expect(judgedOf({ results: [result("eu", "down")] }, 0)).toEqual({ of: "unjudged" });
  expect(judgedOf({ results: [result("eu", "down"), result("us", "up")] }, 0)).toEqual({ of: "passed" });
  expect(judgedOf({ results: [result("eu", "missed", [], false)] }, 0)).toBeNull();
  expect(judgedOf({ results: [] }, 0)).toBeNull();
});
