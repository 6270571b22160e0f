import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { CHANGES, createVoice } from "./voice";

const said: string[] = [];
beforeEach(() => {
  said.length = 0;
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test("of changes within five seconds the newest is said, with how many it stands for", () => {
  const voice = createVoice((sentence) => said.push(sentence));
  voice.say("A is down.", CHANGES);
  vi.advanceTimersByTime(0);
  voice.say("B is down.", CHANGES);
  voice.say("C is down.", CHANGES);
  vi.advanceTimersByTime(4_999);
  expect(said).toEqual(["A is down."]);
  vi.advanceTimersByTime(1);
  expect(said).toEqual(["A is down.", "C is down. 1 more changed."]);
});

test("what is no such change is neither replaced nor counted, and comes first", () => {
  const voice = createVoice((sentence) => said.push(sentence));
  voice.say("A is down.", CHANGES);
  vi.advanceTimersByTime(0);
  voice.say("X deleted.");
  voice.say("B is down.", CHANGES);
  voice.say("Y was not changed.");
  voice.say("C is down.", CHANGES);
  vi.advanceTimersByTime(5_000);
  expect(said).toEqual(["A is down.", "X deleted. Y was not changed."]);
  vi.advanceTimersByTime(5_000);
  expect(said[2]).toBe("C is down. 1 more changed.");
  voice.say("D is down.", CHANGES);
  voice.stop();
  vi.advanceTimersByTime(10_000);
  expect(said).toHaveLength(3);
});

test("whatever is said, and however much, there are five seconds from one time to the next", () => {
  const at: number[] = [];
  const voice = createVoice(() => at.push(Date.now()));
  for (let i = 0; i < 300; i++) {
    voice.say(`Target ${i} is down.`, CHANGES);
    if (i % 7 === 0) voice.say(`${i} deleted.`);
    if (i % 3 === 0) voice.say(`Waiting for ${i}.`, "test");
    vi.advanceTimersByTime(100);
  }
  expect(at).toHaveLength(7);
  expect(at.slice(1).every((time, i) => time - (at[i] ?? 0) >= 5_000)).toBe(true);
});

test("of what is about the same the newest is said; what is taken back is not", () => {
  const voice = createVoice((sentence) => said.push(sentence));
  voice.say("Testing.", "test");
  vi.advanceTimersByTime(0);
  voice.say("Waiting for eu.", "test");
  voice.say("X deleted.");
  voice.say("There are unsaved changes.", "page");
  voice.say("Tested: up from eu.", "test");
  voice.say("", "page");
  vi.advanceTimersByTime(5_000);
  expect(said).toEqual(["Testing.", "X deleted. Tested: up from eu."]);
  vi.advanceTimersByTime(60_000);
  expect(said).toHaveLength(2);
});

test("what several parts say within a second is heard once; later it is heard again", () => {
  const voice = createVoice((sentence) => said.push(sentence));
  voice.say("No network.");
  vi.advanceTimersByTime(300);
  voice.say("No network.");
  vi.advanceTimersByTime(60_000);
  expect(said).toEqual(["No network."]);
  voice.say("No network.");
  vi.advanceTimersByTime(2_000);
  voice.say("No network.");
  vi.advanceTimersByTime(5_000);
  expect(said).toHaveLength(3);
});

test("nothing else of the pages is a polite live region", () => {
  const sources = import.meta.glob<string>(["../**/*.{ts,tsx}", "!../**/*.test.ts"], {
    query: "?raw",
    import: "default",
    eager: true,
  });
  const regions = Object.entries(sources)
    .filter(([, source]) => /aria-?live|role[=:\s{"']+(status|log|timer|marquee)\b|<output\b/i.test(source))
    .map(([path]) => path);
  expect(regions).toEqual(["./announcer.tsx"]);
});
