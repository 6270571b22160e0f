import { expect, test } from "vitest";
import type { Incident } from "../api/incidents";
import type { StatusPage } from "../api/statusPages";
import { during, fromIncident, headOf, iconOf, lineOf, tellable } from "./posts";
import { badgeOf } from "./share";

const component = (id: number, name: string, target_ids: number[]) => ({
  id,
  name,
  description: "",
  rule: "worst" as const,
  state: null,
  target_ids,
  tags: [],
  member_ids: [],
});
const page = {
  groups: [{ name: "", components: [component(1, "Shop", [7]), component(2, "API", [8]), component(3, "Till", [7])] }],
} as unknown as StatusPage;

test("a post of an incident begins with the names that readers know", () => {
  const draft = fromIncident(page, [7], "down");
  expect(headOf(draft)).toEqual({ title: "Shop, Till: down", kind: "incident", impact: "down", component_ids: [1, 3] });
  expect(fromIncident({ ...page, language: "de" }, [8], "down").title).toBe("API: ausgefallen");
  expect(headOf(fromIncident(page, [9], "down"))).toMatchObject({
    title: "",
    component_ids: [],
  });
  expect(headOf(fromIncident(page, [8], "no_data"))).toMatchObject({ title: "", impact: null });
  expect(fromIncident(page, [7, 8], "degraded")).toMatchObject({ components: [1, 2, 3], impact: "degraded" });
});

test("incidents of the time of a post are those that went on around it", () => {
  const at = (began_at: string, resolved_at: string | null) => ({ began_at, resolved_at }) as Incident;
  const all = [
    at("2026-03-01T08:00:00Z", "2026-03-01T08:30:00Z"),
    at("2026-03-01T09:00:00Z", "2026-03-01T09:55:00Z"),
    at("2026-03-01T10:30:00Z", null),
    at("2026-03-01T12:00:00Z", null),
  ];
  const post = { begun_at: "2026-03-01T10:00:00Z", resolved_at: "2026-03-01T11:00:00Z" };
  expect(during(all, post)).toEqual([all[1], all[2]]);
  expect(during(all, { ...post, resolved_at: null })).toEqual(all.slice(1));
});

test("a post can tell of its own incident, then of those of what it affects, then of others", () => {
  const of = (id: number, target_id: number) => ({ id, target_id }) as Incident;
  const found = [of(5, 9), of(4, 7), of(3, 0), of(2, 7), of(1, 9)];
  const ids = (own: Incident | undefined) => tellable(own, found, [7]).map((one) => one.id);
  expect(ids(undefined)).toEqual([4, 2, 5, 3, 1]);
  expect(ids(of(1, 9))).toEqual([1, 4, 2, 5, 3]);
  expect(ids(of(6, 9))).toEqual([6, 4, 2, 5, 3, 1]);
});

test("an incident in a line", () => {
  const incident = { id: 7, severity: "down", began_at: "2026-03-01T10:00:00Z", target: { name: "Shop" } } as Incident;
  expect(lineOf(incident, "utc")).toBe("Shop · Down · 01 Mar 2026, 10:00:00 UTC");
  expect(lineOf({ ...incident, target: { ...incident.target, name: "" } }, "utc")).toMatch(/^Incident 7 · /);
});

test("what is over is never shown as down", () => {
  expect(iconOf({ impact: "down", resolved_at: null })).toBe("down");
  expect(iconOf({ impact: "down", resolved_at: "2026-03-01T11:00:00Z" })).toBe("up");
  expect(iconOf({ impact: null, resolved_at: null })).toBeNull();
});

test("badges can be pasted, whatever a name has in it", () => {
  const badge = badgeOf("https://a.example/s/main", "https://status.example/", 'Shop [1] "& co"', 3);
  expect(badge.path).toBe("/s/main/components/3/badge.svg");
  expect(badge.markdown).toBe(
    '[![Status of Shop \\[1\\] "& co"](https://a.example/s/main/components/3/badge.svg)](https://status.example/)',
  );
  expect(badge.html).toContain('alt="Status of Shop [1] &quot;&amp; co&quot;"');
  expect(badge.shields).toContain("https%3A%2F%2Fa.example%2Fs%2Fmain%2Fcomponents%2F3%2Fbadge.json");
  expect(badgeOf("https://a.example/s/main", "x", "y", null).path).toBe("/s/main/badge.svg");
});
