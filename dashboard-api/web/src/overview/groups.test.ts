import { expect, test } from "vitest";
import { type Group, groupAt, groupByTag, type Lines, placeOf, sameLines, stepFrom, ungrouped } from "./groups";

const tags = new Map([
  [1, ["web", "eu"]],
  [2, []],
  [3, ["eu"]],
  [4, []],
  [5, ["web"]],
]);
const tagsOf = (id: number): string[] => tags.get(id) ?? [];
const written = ({ lines }: Lines) => lines.map((line) => (typeof line === "number" ? line : `#${line.tag}`));

test("targets stand under each of their tags in the order they had, those without any last", () => {
  const grouped = groupByTag([5, 4, 3, 2, 1], tagsOf);
  expect(written(grouped)).toEqual(["#eu", 3, 1, "#web", 5, 1, "#null", 4, 2]);
  expect(grouped.groups.map(({ tag, ids, at }) => [tag, ids.length, at])).toEqual([
    ["eu", 2, 0],
    ["web", 2, 3],
    [null, 2, 6],
  ]);
  expect(written(groupByTag([3], tagsOf))).toEqual(["#eu", 3]);
  expect(written(groupByTag([], tagsOf))).toEqual([]);
});

test("every line is of the group whose heading is above it", () => {
  const { lines, groups } = groupByTag([5, 4, 3, 2, 1], tagsOf);
  expect(lines.map((_, i) => groupAt(groups, i)?.tag)).toEqual([
    ...["eu", "eu", "eu"],
    ...["web", "web", "web"],
    ...[null, null, null],
  ]);
  expect(groupAt(ungrouped([1, 2]).groups, 1)).toBeUndefined();
});

test("steps go from target to target, past headings, and end at the ends", () => {
  const { lines } = groupByTag([5, 4, 3, 2, 1], tagsOf);
  const walk: number[] = [];
  for (let at = stepFrom(lines, -1, 1), last = -1; at !== last; last = at, at = stepFrom(lines, at, 1)) walk.push(at);
  expect(walk).toEqual([1, 2, 4, 5, 7, 8]);
  expect(stepFrom(lines, 4, -1)).toBe(2);
  expect(stepFrom(lines, 1, -1)).toBe(1);
  expect(stepFrom([7, 8], -1, 1)).toBe(0);
  expect(stepFrom([7, 8], 1, 1)).toBe(1);
});

test("a target in several groups stands where it is said", () => {
  const grouped = groupByTag([5, 4, 3, 2, 1], tagsOf);
  expect(placeOf(grouped, 1, "eu")).toBe(2);
  expect(placeOf(grouped, 1, "web")).toBe(5);
  expect(placeOf(grouped, 1, undefined)).toBe(2);
  expect(placeOf(grouped, 4, null)).toBe(7);
  expect(placeOf(ungrouped([4, 1]), 1, undefined)).toBe(1);
});

test("lines are the same as long as no target moves and no tag changes", () => {
  const before = groupByTag([5, 4, 3, 2, 1], tagsOf);
  expect(sameLines(before, groupByTag([5, 4, 3, 2, 1], tagsOf))).toBe(true);
  expect(sameLines(before, groupByTag([5, 4, 1, 2, 3], tagsOf))).toBe(false);
  expect(
    sameLines(
      before,
      groupByTag([5, 4, 3, 2, 1], (id) => tagsOf(id).map((tag) => `${tag}-2`)),
    ),
  ).toBe(false);
  expect(sameLines(before, ungrouped([5, 4, 3, 2, 1]))).toBe(false);
});

test("ten thousand targets are grouped in one pass", () => {
  const ids = Array.from({ length: 10_000 }, (_, i) => i + 1);
  let asked = 0;
  const grouped = groupByTag(ids, (id: number) => {
    asked += 1;
    return [`team-${id % 300}`, `region-${id % 7}`, `tier-${id % 3}`];
  });
  expect(grouped.lines.length).toBe(30_310);
  expect(grouped.groups.filter((group: Group) => group.ids.length > 0)).toHaveLength(310);
  expect(asked).toBe(ids.length);
});
