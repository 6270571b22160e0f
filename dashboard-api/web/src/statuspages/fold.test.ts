import { expect, test } from "vitest";
import type { PageState } from "../api/statusPages";
import { colourProblem, contrast, ratioWord } from "./contrast";
import { boundTo, combine, pageStateOf, stateOf, worst } from "./fold";
import { languages, say } from "./locales";

const s = (text: string) => text.split(" ").filter(Boolean) as PageState[];

test.each([
  ["", "no_data", "no_data"],
  ["up up up", "up", "up"],
  ["up no_data no_data", "no_data", "no_data"],
  ["up up no_data", "no_data", "up"],
  ["up up down", "down", "degraded"],
  ["down down up", "down", "down"],
  ["down up", "down", "degraded"],
  ["up up up degraded", "degraded", "degraded"],
  ["up maintenance", "maintenance", "no_data"],
  ["maintenance maintenance up", "maintenance", "maintenance"],
])("%s: %s by the worst, %s by the majority", (states, byWorst, byMajority) => {
  expect(combine("worst", s(states))).toBe(byWorst);
  expect(combine("majority", s(states))).toBe(byMajority);
});

test("a component of no kind is green without evidence", () => {
  const known = (id: number) => (id === 1 ? "up" : undefined);
  expect(stateOf({ rule: "worst", state: null, targets: [1] }, known)).toBe("up");
  expect(stateOf({ rule: "worst", state: null, targets: [1, 2] }, known)).toBe("no_data");
  expect(stateOf({ rule: "worst", state: null, targets: [] }, known)).toBe("no_data");
  expect(stateOf({ rule: "manual", state: "degraded", targets: [1] }, known)).toBe("degraded");
  expect(pageStateOf("paused")).toBe("no_data");
  expect(worst([])).toBeNull();
});

test("colours are judged as the API judges them", () => {
  expect(contrast("#000000", "#ffffff")).toBeCloseTo(21, 5);
  expect(ratioWord(contrast("#ffff00", "#ffffff") ?? 0)).toBe("1.07 to 1");
  expect(ratioWord(4.4999)).toBe("4.49 to 1");
  expect(colourProblem("#ffff00", "light")).toContain("could not be read");
  expect(colourProblem("#ffff00", "dark")).toBe("");
  expect(colourProblem("red", "light")).toContain("#0b57d0");
  expect(colourProblem("", "light")).toBe("");
});

test("languages and their words are those of the pages", () => {
  expect(languages.length).toBeGreaterThan(1);
  expect(new Map(languages).get("de")).toBe("Deutsch");
  expect(say("de", "banner.up")).toBe("Alle Systeme sind in Betrieb");
  expect(say("xx", "up")).toBe("Operational");
});

test("targets come by name and by all of the tags", () => {
  const all = [
    { id: 1, tags: ["eu", "prod"] },
    { id: 2, tags: ["prod"] },
    { id: 3, tags: [] },
  ];
  expect(boundTo({ targets: [3, 1], tags: ["eu", "prod"] }, all)).toEqual([3, 1]);
  expect(boundTo({ targets: [3], tags: ["prod"] }, all)).toEqual([3, 1, 2]);
  expect(boundTo({ targets: [3], tags: [] }, all)).toEqual([3]);
});
