import { expect, test } from "vitest";
import { createAppRouter } from "./router";

const routes = createAppRouter().routesByPath;
const read = (path: keyof typeof routes, search: Record<string, unknown>) =>
  (routes[path].options.validateSearch as (search: Record<string, unknown>) => unknown)(search);

test("an address says what is chosen, and nothing of what cannot be", () => {
  expect(read("/fleet", { ledger: "7d", more: "x" })).toEqual({ ledger: "7d" });
  expect(read("/fleet", { ledger: "1h" })).toEqual({});
  expect(read("/fleet", { ledger: "8d" })).toEqual({});
  expect(read("/targets/$id/rule", { days: "90" })).toEqual({ days: "90" });
  expect(read("/targets/$id/rule", { days: "7" })).toEqual({ days: "7" });
  expect(read("/targets/$id/rule", { days: "30" })).toEqual({});
  expect(read("/targets/$id/rule", { days: "365" })).toEqual({});
  expect(
    read("/", { q: "shop", state: "down", sort: "slow", tag: "a,b", region: "eu", group: "tag", add: "1" }),
  ).toEqual({ q: "shop", state: "down", sort: "slow", tag: "a,b", region: "eu", group: "tag", add: "1" });
  expect(read("/", { q: "", state: "well", sort: "size", tag: "", region: 7, group: "x", add: "" })).toEqual({});
  expect(read("/targets/$id", { range: "7d", view: "percentiles", region: "eu" })).toEqual({
    range: "7d",
    view: "percentiles",
    region: "eu",
  });
  expect(read("/targets/$id", { range: "8d", view: "pie", region: "" })).toEqual({});
  expect(read("/incidents", { state: "open", target: "7" })).toEqual({ state: "open", target: "7" });
  expect(read("/incidents", { state: "late", target: "0" })).toEqual({});
  expect(read("/settings/audit", { actor: "ann", action: "", object: "x", more: "y" })).toEqual({
    actor: "ann",
    object: "x",
  });
  expect(read("/reports/$month", { zone: "Europe/Berlin" })).toEqual({ zone: "Europe/Berlin" });
  expect(read("/login", { next: "/fleet", problem: 1 })).toEqual({ next: "/fleet" });
});
