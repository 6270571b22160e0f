import { describe, expect, it, vi } from "vitest";
import { resultOf } from "./alerts";
import { linesOf, settingsOf, whenWritten } from "./revisions";

describe("an alert", () => {
  const one = { state: "pending", attempts: 0, next_at: "2026-03-01T12:00:00Z" } as const;
  const noon = Date.parse(one.next_at);
  it("waits, is due, is tried again, or is settled", () => {
    expect(resultOf(one, noon - 1)).toBe("waiting");
    expect(resultOf(one, noon)).toBe("due");
    expect(resultOf({ ...one, attempts: 1 }, noon - 1)).toBe("again");
    expect(resultOf({ state: "failed", attempts: 3, next_at: null }, noon)).toBe("failed");
  });
});

describe("a change of a target's settings", () => {
  const line = (pointer: string, from: unknown, to: unknown, shortened = false) => {
    const [row] = linesOf([{ pointer, from, to, shortened }]);
    return row && [row.name, row.before, row.after, row.code];
  };
  it("is told in words", () => {
    expect(line("/interval_s", 60, 120)).toEqual(["Interval", "1 min", "2 min", false]);
    expect(line("/timeout_ms", 10_000, 2000)).toEqual(["Timeout", "10 s", "2 s", false]);
    expect(line("/active", true, false)).toEqual(["Checks", "Running", "Paused", false]);
    expect(line("/regions", [], ["eu", "us"])).toEqual(["Regions", "every region", "eu, us", false]);
    expect(line("/parent", "router", null)).toEqual(["Depends on", "router", "none", false]);
    expect(line("/http/method", null, "POST")).toEqual(["Method", "none", "POST", true]);
    const assertion = { source: "header", name: "Server", op: "equals", value: "x" };
    expect(line("/assertions", [], [assertion])).toEqual(["Assertions", "none", "header Server equals x", true]);
    expect(line("/policy/quorum", 1, 2)).toEqual(["policy / quorum", "1", "2", true]);
    expect(line("/http/body", "a…", "b", true)?.[0]).toBe("Body, its beginning");
  });
  it("shows no secret, and says when one was changed", () => {
    expect(line("/http/password", null, "[secret]")).toEqual(["Password", "none", "secret", false]);
    expect(line("/http/token", "[secret]", "[secret]")).toEqual([
      "Bearer token",
      null,
      "Changed; it is never shown",
      false,
    ]);
    expect(line("/http/headers", [{ name: "X-Key", secret: "[secret]" }], [{ name: "X-Key", value: "1" }])).toEqual([
      "Headers",
      "X-Key: secret",
      "X-Key: 1",
      true,
    ]);
  });
  it("is seen in what is shown live", () => {
    const target = {
      name: "a",
      url: "https://a.example/",
      interval_s: 60,
      timeout_ms: 1000,
      regions: [],
      tags: [],
      parent_id: null,
      active: true,
    };
    expect(settingsOf({ ...target })).toBe(settingsOf(target));
    expect(settingsOf({ ...target, active: false })).not.toBe(settingsOf(target));
  });
});

it("what was changed is asked for soon, and once more where writing it down takes long", () => {
  vi.useFakeTimers();
  const ask = vi.fn();
  const end = whenWritten(ask);
  vi.advanceTimersByTime(1_000);
  expect(ask).toHaveBeenCalledTimes(1);
  vi.advanceTimersByTime(10_000);
  expect(ask).toHaveBeenCalledTimes(2);
  end();
  whenWritten(ask)();
  vi.advanceTimersByTime(60_000);
  expect(ask).toHaveBeenCalledTimes(2);
  vi.useRealTimers();
});
