import type { Component, PageState, Rule, StatusPage, StatusPageInput } from "../api/statusPages";
import type { Problems } from "../ui/problems";
import { t } from "../words/t";
import { colourProblem } from "./contrast";

export interface ComponentDraft {
  /** Of the row on the screen. */
  key: string;
  /** Null: it is new. */
  id: number | null;
  name: string;
  description: string;
  rule: Rule;
  state: PageState | null;
  targets: number[];
  tags: string[];
}

export interface GroupDraft {
  key: string;
  name: string;
  components: ComponentDraft[];
}

export interface PageDraft {
  slug: string;
  host: string;
  title: string;
  description: string;
  theme: StatusPage["theme"];
  accent: string;
  accentDark: string;
  language: string;
  zone: string;
  /** Empty: as it is. */
  password: string;
  hasPassword: boolean;
  /** A line each. */
  allow: string;
  showIncidents: boolean;
  byEmail: boolean;
  byWebhook: boolean;
  groups: GroupDraft[];
}

let keys = 0;
const newKey = () => `n${++keys}`;

export const newGroup = (): GroupDraft => ({ key: newKey(), name: "", components: [] });

export const newComponent = (name: string, targets: number[]): ComponentDraft => ({
  key: newKey(),
  id: null,
  name,
  description: "",
  rule: targets.length > 0 ? "worst" : "manual",
  state: targets.length > 0 ? null : "up",
  targets,
  tags: [],
});

export const draftOf = (page: StatusPage): PageDraft => ({
  slug: page.slug,
  host: page.host ?? "",
  title: page.title,
  description: page.description,
  theme: page.theme,
  accent: page.accent ?? "",
  accentDark: page.accent_dark ?? "",
  language: page.language,
  zone: page.zone,
  password: "",
  hasPassword: page.has_password,
  allow: page.allow.join("\n"),
  showIncidents: page.show_incidents,
  byEmail: page.subscribe_email,
  byWebhook: page.subscribe_webhook,
  groups: page.groups.map((group, i) => ({
    key: `g${i}`,
    name: group.name,
    components: group.components.map(({ target_ids, member_ids: _, ...one }) => ({
      ...one,
      key: `c${one.id}`,
      targets: target_ids,
    })),
  })),
});

const lines = (text: string): string[] => text.split(/[\s,]+/).filter(Boolean);

const groupsOf = (draft: PageDraft): NonNullable<StatusPageInput["groups"]> =>
  draft.groups.map((group) => ({
    name: group.name.trim(),
    components: group.components.map((one) => ({
      ...(one.id === null ? {} : { id: one.id }),
      name: one.name.trim(),
      description: one.description.trim(),
      rule: one.rule,
      ...(one.rule === "manual" && one.state ? { state: one.state } : {}),
      target_ids: [...one.targets].sort((a, b) => a - b),
      tags: one.tags,
    })),
  }));

const bodyOf = (draft: PageDraft) => ({
  slug: draft.slug.trim(),
  host: draft.host.trim() || null,
  title: draft.title.trim(),
  description: draft.description.trim(),
  theme: draft.theme,
  accent: draft.accent.trim() || null,
  accent_dark: draft.accentDark.trim() || null,
  language: draft.language,
  zone: draft.zone,
  allow: lines(draft.allow),
  show_incidents: draft.showIncidents,
  subscribe_email: draft.byEmail,
  subscribe_webhook: draft.byWebhook,
  groups: groupsOf(draft),
});

/** What a draft would change of a page; nothing: it says the same. */
export function changesOf(draft: PageDraft, page: StatusPage): StatusPageInput {
  const before = bodyOf(draftOf(page));
  const now = bodyOf(draft);
  const changed: StatusPageInput = Object.fromEntries(
    Object.entries(now).filter(([name, value]) => {
      return JSON.stringify(value) !== JSON.stringify(before[name as keyof typeof before]);
    }),
  );
  if (draft.password) changed.password = draft.password;
  else if (page.has_password && !draft.hasPassword) changed.password = null;
  return changed;
}

export const isEmpty = (changes: object): boolean => Object.keys(changes).length === 0;

/** What can be said without asking the API. */
export function mistakesOf(draft: PageDraft): Problems {
  const found: Problems = {};
  const put = (pointer: string, problem: string) => {
    if (problem) found[pointer] = problem;
  };
  put("/title", draft.title.trim() ? "" : t("Give it a name, such as “Acme status”."));
  put("/slug", draft.slug.trim() ? "" : t("Needed: it is the end of the page's address."));
  put("/accent", colourProblem(draft.accent.trim(), "light"));
  put("/accent_dark", colourProblem(draft.accentDark.trim(), "dark"));
  draft.groups.forEach((group, i) => {
    group.components.forEach((one, j) => {
      put(`/groups/${i}/components/${j}/name`, one.name.trim() ? "" : t("Give it a name that readers know."));
    });
  });
  return found;
}

/** The fields that show a mistake where it is. */
export const fieldsOf = (draft: PageDraft): string[] => [
  "/slug",
  "/host",
  "/title",
  "/description",
  "/accent",
  "/accent_dark",
  "/language",
  "/zone",
  "/password",
  "/allow",
  "/groups",
  ...draft.groups.flatMap((group, i) => [
    `/groups/${i}/name`,
    ...group.components.flatMap((_, j) =>
      ["name", "description", "state", "target_ids", "tags"].map((field) => `/groups/${i}/components/${j}/${field}`),
    ),
  ]),
];

/** Such as "acme-co" of "Acme & Co." */
export const slugOf = (title: string): string =>
  title
    .normalize("NFKD")
    .replaceAll(/\p{M}/gu, "")
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .slice(0, 63)
    .replaceAll(/^-+|-+$/g, "");

/** Where a component stands. */
export interface Place {
  group: number;
  at: number;
}

/** Takes a component out of its place and puts it before the one at another; both places are of before. */
export function moved(groups: readonly GroupDraft[], from: Place, to: Place): GroupDraft[] {
  const taken = groups[from.group]?.components[from.at];
  if (!taken || !groups[to.group]) return [...groups];
  const at = from.group === to.group && from.at < to.at ? to.at - 1 : to.at;
  return groups.map((group, i) => {
    const components = group.components.filter((one) => one !== taken);
    return { ...group, components: i === to.group ? components.toSpliced(at, 0, taken) : components };
  });
}

/** One step up or down, on into the next group; null: it is at the end. */
export function step(groups: readonly GroupDraft[], from: Place, by: -1 | 1): Place | null {
  const size = groups[from.group]?.components.length ?? 0;
  if (by < 0) {
    if (from.at > 0) return { group: from.group, at: from.at - 1 };
    const above = groups[from.group - 1];
    return above ? { group: from.group - 1, at: above.components.length } : null;
  }
  if (from.at < size - 1) return { group: from.group, at: from.at + 2 };
  return groups[from.group + 1] ? { group: from.group + 1, at: 0 } : null;
}

/** The same for whole groups. */
export function movedGroup(groups: readonly GroupDraft[], from: number, to: number): GroupDraft[] {
  const taken = groups[from];
  if (!taken || to < 0 || to > groups.length) return [...groups];
  return groups.toSpliced(from, 1).toSpliced(from < to ? to - 1 : to, 0, taken);
}

/** Names of the components with these ids, in the order of the page. */
export const namesOf = (page: StatusPage, ids: readonly number[]): string[] =>
  componentsOf(page)
    .filter((one) => ids.includes(one.id))
    .map((one) => one.name);

/** The targets behind some of its components. */
export const targetsOf = (page: StatusPage, ids: readonly number[]): number[] => [
  ...new Set(
    componentsOf(page)
      .filter((one) => ids.includes(one.id))
      .flatMap(behind),
  ),
];

/** The targets behind a component: those it names, and those that carry its tags now. */
export const behind = (one: Component): number[] => [...new Set([...one.target_ids, ...one.member_ids])];

export const componentsOf = (page: StatusPage): Component[] => page.groups.flatMap((group) => group.components);
