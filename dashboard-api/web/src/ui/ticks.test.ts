import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import type { Mark, SlotView } from "../live/history";
import { Ticks } from "./Ticks";

const slots = (...all: Mark[]): SlotView[] => all.map((mark, i) => ({ at: (i + 1) * 10_000, cells: [], mark }));

/** The paths of a bar: class and shapes. */
const drawn = (of: SlotView[], came?: number) =>
  [
    ...renderToStaticMarkup(createElement(Ticks, { slots: of, maintained: [], came })).matchAll(
      /<path class="([^"]*)" d="([^"]*)"/g,
    ),
  ]
    .map(([, is = "", d = ""]): [string, string[]] => [is, d.split(/(?<=z)/)])
    .filter(([is]) => is !== "t-before");

test("the newest tick is drawn by itself while it slides in, and only then", () => {
  const bar = slots("up", "down", "up", "down");
  expect(drawn(bar).map(([is, shapes]) => [is, shapes.length])).toEqual([
    ["t-up", 2],
    ["t-down", 2],
  ]);
  expect(drawn(bar, 7).map(([is, shapes]) => [is, shapes.length])).toEqual([
    ["t-up", 2],
    ["t-down", 1],
    ["came t-down", 1],
  ]);
});

test("a bar looks the same with its newest tick by itself", () => {
  for (const bar of [slots("up"), slots("up", "none", "degraded"), slots(...Array<Mark>(90).fill("down"))]) {
    const shapes = (came?: number) =>
      drawn(bar, came).flatMap(([is, all]) => all.map((d) => `${is.split(" ").at(-1)} ${d}`));
    expect(shapes(7).sort()).toEqual(shapes().sort());
  }
  expect(drawn([], 7)).toEqual([]);
});
