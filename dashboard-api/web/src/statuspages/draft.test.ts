import { describe, expect, it } from "vitest";
import { type StatusPage, tagOf } from "../api/statusPages";
import {
  changesOf,
  draftOf,
  fieldsOf,
  isEmpty,
  mistakesOf,
  moved,
  movedGroup,
  newComponent,
  slugOf,
  step,
} from "./draft";

const component = (id: number, target_ids: number[] = []) => ({
  id,
  name: `c${id}`,
  description: "",
  rule: "worst" as const,
  state: null,
  target_ids,
  tags: [],
  member_ids: [],
});

const page: StatusPage = {
  id: 1,
  slug: "main",
  host: null,
  published: false,
  title: "Acme",
  description: "",
  theme: "auto",
  accent: null,
  accent_dark: null,
  language: "en",
  zone: "UTC",
  has_password: true,
  allow: ["192.0.2.0/24"],
  show_incidents: false,
  subscribe_email: false,
  subscribe_webhook: false,
  mail_missing: null,
  groups: [
    { name: "Web", components: [component(1, [7, 9]), component(2)] },
    { name: "", components: [component(3, [7])] },
  ],
  version: 4,
  created_at: "2026-03-01T00:00:00Z",
  updated_at: "2026-03-01T00:00:00Z",
};

describe("what a draft changes", () => {
  it("is nothing of what was not touched", () => {
    expect(isEmpty(changesOf(draftOf(page), page))).toBe(true);
    expect(isEmpty(changesOf({ ...draftOf(page), title: " Acme " }, page))).toBe(true);
  });
  it("keeps the tags of components when something else of them changes", () => {
    const tagged = {
      ...page,
      groups: [{ name: "", components: [{ ...component(1), tags: ["prod"], member_ids: [7] }] }],
    };
    const draft = draftOf(tagged);
    const one = draft.groups[0]?.components[0];
    if (one) one.name = "Shop";
    expect(changesOf(draft, tagged).groups?.[0]?.components).toEqual([
      { id: 1, name: "Shop", description: "", rule: "worst", target_ids: [], tags: ["prod"] },
    ]);
  });
  it("is only the members that differ, and null for what is emptied", () => {
    const draft = { ...draftOf({ ...page, host: "status.example.com" }), host: "", allow: "192.0.2.7,\n2001:db8::/32" };
    expect(changesOf(draft, { ...page, host: "status.example.com" })).toEqual({
      host: null,
      allow: ["192.0.2.7", "2001:db8::/32"],
    });
  });
  it("keeps a password whose field is left alone, sets a new one, or takes it away", () => {
    expect(changesOf({ ...draftOf(page), password: "correct horse" }, page)).toEqual({ password: "correct horse" });
    expect(changesOf({ ...draftOf(page), hasPassword: false }, page)).toEqual({ password: null });
  });
  it("gives no id to a component that is new, and no state to one that is measured", () => {
    const draft = draftOf(page);
    draft.groups[1]?.components.push(newComponent("New", [5]), newComponent("Hotline", []));
    expect(changesOf(draft, page).groups?.[1]?.components).toEqual([
      { id: 3, name: "c3", description: "", rule: "worst", target_ids: [7], tags: [] },
      { name: "New", description: "", rule: "worst", target_ids: [5], tags: [] },
      { name: "Hotline", description: "", rule: "manual", state: "up", target_ids: [], tags: [] },
    ]);
  });
});

describe("the order of components", () => {
  const { groups } = draftOf(page);
  const order = (all: typeof groups) => all.map((group) => group.components.map((one) => one.id).join(",")).join(" | ");
  const down = (from: { group: number; at: number }, by: -1 | 1) => {
    const to = step(groups, from, by);
    return to && order(moved(groups, from, to));
  };
  it("goes by steps, on into the next group, and ends at the ends", () => {
    expect(order(groups)).toBe("1,2 | 3");
    expect(down({ group: 0, at: 0 }, 1)).toBe("2,1 | 3");
    expect(down({ group: 0, at: 1 }, -1)).toBe("2,1 | 3");
    expect(down({ group: 0, at: 1 }, 1)).toBe("1 | 2,3");
    expect(down({ group: 1, at: 0 }, -1)).toBe("1,2,3 | ");
    expect(down({ group: 0, at: 0 }, -1)).toBeNull();
    expect(down({ group: 1, at: 0 }, 1)).toBeNull();
  });
  it("is what was dropped where", () => {
    expect(order(moved(groups, { group: 1, at: 0 }, { group: 0, at: 0 }))).toBe("3,1,2 | ");
    expect(order(moved(groups, { group: 0, at: 0 }, { group: 0, at: 2 }))).toBe("2,1 | 3");
    expect(order(moved(groups, { group: 0, at: 0 }, { group: 0, at: 0 }))).toBe("1,2 | 3");
    expect(order(moved(groups, { group: 0, at: 5 }, { group: 1, at: 0 }))).toBe("1,2 | 3");
    expect(order(movedGroup(groups, 0, 2))).toBe("3 | 1,2");
    expect(order(movedGroup(groups, 1, 0))).toBe("3 | 1,2");
    expect(order(movedGroup(groups, 0, -1))).toBe("1,2 | 3");
  });
});

it("mistakes are told at their fields", () => {
  const draft = { ...draftOf(page), title: " ", accent: "#ffff00", accentDark: "#ffff00" };
  const [first] = draft.groups[0]?.components ?? [];
  if (first) first.name = "";
  expect(Object.keys(mistakesOf(draft))).toEqual(["/title", "/accent", "/groups/0/components/0/name"]);
  for (const pointer of Object.keys(mistakesOf(draft))) expect(fieldsOf(draft)).toContain(pointer);
});

it("an address is made of a name", () => {
  expect(["Acme & Co.", "Über uns", "  --x--  ", "日本"].map(slugOf)).toEqual(["acme-co", "uber-uns", "x", ""]);
});

it("what a page says is named by its version and the number of its targets", () => {
  expect(tagOf(page)).toBe("4.3");
});
