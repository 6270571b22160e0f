import { expect, test } from "vitest";
import type { Prober } from "../api/types";
import { allDrained, canaryWords, clickhouseWords, clockWords, exitWords, isLast, warnings } from "./proberWords";

test("a clock is in step, ahead or behind, or not told", () => {
  expect(clockWords(-12)).toBe("In step with Redis, 12 ms off");
  expect(clockWords(90_000)).toBe("1 min 30 s ahead of Redis");
  expect(clockWords(-3_000)).toBe("3 s behind Redis");
  expect(clockWords(null)).toBeNull();
  expect(clockWords(undefined)).toBeNull();
});

test("a breaker that is open, and one that tries again, have words of their own", () => {
  expect(clickhouseWords({ breaker: "closed", clickhouse: "ok" })).toBe("ok");
  expect(clickhouseWords({ breaker: "closed", clickhouse: "down" })).toBe("down");
  expect(clickhouseWords({ breaker: "open", clickhouse: "down" })).toBe("cut off");
  expect(clickhouseWords({ breaker: "half_open", clickhouse: "down" })).toBe("trying again");
  expect(clickhouseWords({ breaker: "half_open", clickhouse: "ok" })).toBe("trying again");
  expect(clickhouseWords({ breaker: "", clickhouse: "down" })).toBe("down");
});

test("canaries are counted, and what bad ones mean is said", () => {
  expect(canaryWords({ state: "good", answered: 4, all: 5 })).toBe("4 of 5 answer");
  expect(canaryWords({ state: "bad", answered: 1, all: 5 })).toContain(
    "1 of 5 answer: what fails there is not believed",
  );
  expect(canaryWords({ state: "off", answered: 0, all: 0 })).toContain("none");
  expect(canaryWords({ state: "", answered: 0, all: 5 })).toBeNull();
});

test("why a prober was started again, also for a reason that a newer one gives", () => {
  const at = "2026-03-01T12:00:00.000Z";
  expect(exitWords({ cause: "signal", signal: "KILL", at })).toBe("Signal KILL ended it");
  expect(exitWords({ cause: "watchdog", signal: "", at })).toContain("watchdog");
  expect(exitWords({ cause: "moved", signal: "", at })).toBe("moved");
  expect(exitWords(null)).toBeNull();
});

test("what is wrong is seen without opening anything", () => {
  const prober = (offset: number | null, state: string) =>
    ({ clock_offset_ms: offset, canaries: { state, answered: 0, all: 3 } }) as Prober;
  expect(warnings(prober(2_000, "good"))).toEqual([]);
  expect(warnings(prober(null, "off"))).toEqual([]);
  expect(warnings(prober(-600_000, "bad"))).toEqual(["Its clock: 10 min behind Redis", "Its canaries do not answer"]);
});

test("who drains the last prober at work is told so", () => {
  const prober = (name: string, over: Partial<Prober> = {}) =>
    ({ name, age_s: 1, state: "", drain_asked_at: null, ...over }) as Prober;
  const drained = { state: "drained", drain_asked_at: "2026-03-01T12:00:00.000Z" } as const;
  const one = prober("a");
  const last = (...others: Prober[]) => isLast({ probers: [one, ...others] }, one);
  expect(last()).toBe(true);
  expect(last(prober("b"))).toBe(false);
  expect(last(prober("b", { age_s: 60 }), prober("c", drained))).toBe(true);
  expect(last(prober("b", { drain_asked_at: drained.drain_asked_at }))).toBe(true);
  expect(last(prober("b", drained), prober("c"))).toBe(false);

  const all = (live: boolean, ...probers: Prober[]) => allDrained({ live, probers });
  expect(all(true, prober("a", drained), prober("b", { age_s: 60 }))).toBe(true);
  expect(all(true, prober("a", drained), prober("b"))).toBe(false);
  expect(all(true, prober("a", { state: "draining" }))).toBe(false);
  expect(all(false, prober("a", { ...drained, age_s: 60 }))).toBe(false);
});
