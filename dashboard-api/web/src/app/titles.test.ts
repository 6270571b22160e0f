import { expect, test } from "vitest";
import { createAppRouter } from "./router";
import { titleOf, titles } from "./titles";

test("every route has its title, and every title its route", () => {
  const routes = Object.keys(createAppRouter().routesByPath).filter(Boolean);
  expect(Object.keys(titles).sort()).toEqual(routes.sort());
});

test("what a page is of stands in its title", () => {
  expect(titleOf("/fleet")).toBe("Fleet · Probefleet");
  expect(titleOf("/targets/$id/rule", { id: "7" }, (id) => `target ${id}`)).toBe("Rule · target 7 · Probefleet");
  expect(titleOf("/reports/$month", { month: "2026-03" })).toBe("Uptime report March 2026 · Probefleet");
  expect(titleOf("/elsewhere")).toBe("There is no such page · Probefleet");
});
