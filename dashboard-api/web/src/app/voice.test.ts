import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createVoice } from "./voice";

const said: string[] = [];
beforeEach(() => {
  said.length = 0;
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test("of what comes within five seconds the newest is said, with how many it stands for", () => {
  const voice = createVoice((sentence) => said.push(sentence));
  voice.say("A is down.");
  vi.advanceTimersByTime(0);
  voice.say("B is down.");
  voice.say("C is down.");
  vi.advanceTimersByTime(4_999);
  expect(said).toEqual(["A is down."]);
  vi.advanceTimersByTime(1);
  expect(said).toEqual(["A is down.", "C is down. 1 more changed."]);
});

test("what is to be said whole is neither replaced nor counted, and comes first", () => {
  const voice = createVoice((sentence) => said.push(sentence));
  voice.say("A is down.");
  vi.advanceTimersByTime(0);
  voice.say("X deleted.", true);
  voice.say("B is down.");
  voice.say("Y deleted.", true);
  voice.say("C is down.");
  vi.advanceTimersByTime(5_000);
  expect(said).toEqual(["A is down.", "X deleted. Y deleted."]);
  vi.advanceTimersByTime(5_000);
  expect(said[2]).toBe("C is down. 1 more changed.");
  voice.say("D is down.");
  voice.stop();
  vi.advanceTimersByTime(10_000);
  expect(said).toHaveLength(3);
});
