import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Check } from "../api/checks";
import { followCheck } from "./follow";

let changed = () => {};
let live = false;
let ended = 0;
let asked = 0;
let answers: (Partial<Check> | Error)[] = [];
let told: unknown[] = [];

beforeEach(() => {
  vi.useFakeTimers();
  [live, ended, asked, told] = [false, 0, 0, []];
});
afterEach(() => vi.useRealTimers());

const begin = (...given: (Partial<Check> | Error)[]) => {
  answers = given;
  return followCheck(
    "a1",
    {
      get: async () => {
        const answer = answers[Math.min(asked++, answers.length - 1)];
        if (answer instanceof Error) throw answer;
        return answer as Check;
      },
      follow: (channel, listener) => {
        expect(channel).toBe("checks:a1");
        changed = listener;
        return { live: () => live, end: () => ended++ };
      },
    },
    (check) => told.push(check.state),
    (error) => told.push(error instanceof Error ? error.message : error),
  );
};
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

test("while its channel is live it is asked for when the channel says so, and seldom otherwise", async () => {
  live = true;
  begin({ state: "QUEUED" }, { state: "IN_PROGRESS" }, { state: "COMPLETED" });
  await pass(4_000);
  expect(told).toEqual([]);
  changed();
  await pass(0);
  expect(told).toEqual(["QUEUED"]);
  await pass(5_000);
  expect(told).toEqual(["QUEUED", "IN_PROGRESS"]);
  changed();
  await pass(0);
  expect([told.at(-1), ended]).toEqual(["COMPLETED", 1]);
  changed();
  await pass(60_000);
  expect(asked).toBe(3);
});

test("without its channel it is polled, also after an error, until it has ended", async () => {
  begin({ state: "QUEUED" }, new Error("cut"), { state: "IN_PROGRESS" }, { state: "FAILED_PERMANENT" });
  await pass(10_000);
  expect(told).toEqual(["QUEUED", "cut", null, "IN_PROGRESS", "FAILED_PERMANENT"]);
  expect([asked, ended]).toEqual([4, 1]);
});

test("what changes during an answer is asked for after it; nothing is told once it was stopped", async () => {
  live = true;
  const stop = begin({ state: "QUEUED" }, { state: "IN_PROGRESS" });
  changed();
  changed();
  changed();
  await pass(0);
  expect([asked, told]).toEqual([2, ["QUEUED", "IN_PROGRESS"]]);
  changed();
  stop();
  await pass(60_000);
  expect([asked, told.length, ended]).toEqual([3, 2, 1]);
});
