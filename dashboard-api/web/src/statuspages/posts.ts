import type { Incident, Severity } from "../api/incidents";
import type { Impact, Post, PostKind, PostState, StatusPage } from "../api/statusPages";
import type { State } from "../api/types";
import type { Zone } from "../app/preferences";
import { severityWord } from "../incidents/words";
import { absolute } from "../ui/time";
import { t } from "../words/t";
import { behind, componentsOf } from "./draft";
import { say } from "./locales";

export interface PostDraft {
  title: string;
  kind: PostKind;
  impact: Impact | "";
  components: number[];
  state: PostState;
  text: string;
}

export const emptyPost: PostDraft = {
  title: "",
  kind: "incident",
  impact: "",
  components: [],
  state: "investigating",
  text: "",
};

/** In the order in which they are gone through. */
export const postStates: readonly PostState[] = ["investigating", "identified", "monitoring", "resolved"];

export const postStateWords: Record<PostState, string> = {
  investigating: t("Investigating"),
  identified: t("Identified"),
  monitoring: t("Monitoring"),
  resolved: t("Resolved"),
};

export const postStateHints: Record<PostState, string> = {
  investigating: t("You know of it, and look for the cause."),
  identified: t("You know the cause, and work on it."),
  monitoring: t("It is mended, and you watch whether it stays so."),
  resolved: t("It is over: the page moves it to the past."),
};

export const kindWords: Record<PostKind, string> = { incident: t("Incident"), announcement: t("Announcement") };
export const impacts: readonly (readonly [Impact | "", string])[] = [
  ["", t("Not stated")],
  ["degraded", t("Degraded")],
  ["down", t("Down")],
  ["maintenance", t("Maintenance")],
];

/** The icon of a post: what is over is up; null: it says nothing of how things are. */
export const iconOf = (post: Pick<Post, "impact" | "resolved_at">): State | null =>
  post.resolved_at ? "up" : post.impact;

/** What a post says of an incident of ours, to begin with: in the words of the page, not in ours. */
export function fromIncident(page: StatusPage, affected: readonly number[], severity: Severity): PostDraft {
  const about = componentsOf(page).filter((one) => behind(one).some((id) => affected.includes(id)));
  const impact = severity === "no_data" ? "" : severity;
  const names = about.map((one) => one.name).join(", ");
  return {
    ...emptyPost,
    title: names && impact ? say(page.language, `auto.${impact}`).replace("{0}", () => names) : "",
    impact,
    components: about.map((one) => one.id),
  };
}

export const headOf = (draft: PostDraft) => ({
  title: draft.title.trim(),
  kind: draft.kind,
  impact: draft.impact || null,
  component_ids: draft.components,
});

export const draftOfPost = (post: Post): PostDraft => ({
  title: post.title,
  kind: post.kind,
  impact: post.impact ?? "",
  components: post.component_ids,
  state: post.state,
  text: "",
});

/** Incidents of ours that went on at the time of a post. */
export function during(incidents: readonly Incident[], post: Pick<Post, "begun_at" | "resolved_at">): Incident[] {
  const from = Date.parse(post.begun_at) - AROUND_MS;
  const to = post.resolved_at ? Date.parse(post.resolved_at) : Number.POSITIVE_INFINITY;
  return incidents.filter((one) => {
    const over = one.resolved_at ? Date.parse(one.resolved_at) : Number.POSITIVE_INFINITY;
    return Date.parse(one.began_at) <= to && over >= from;
  });
}
const AROUND_MS = 3_600_000; // people post after it began, some when it is over

/** Incidents that a post can be said to tell of: its own, then those of what it affects, then the others. */
export function tellable(
  own: Incident | undefined,
  found: readonly Incident[],
  affected: readonly number[],
): Incident[] {
  const others = found.filter((one) => one.id !== own?.id);
  const concerned = (one: Incident) => affected.includes(one.target_id);
  return [...(own ? [own] : []), ...others.filter(concerned), ...others.filter((one) => !concerned(one))];
}

/** An incident in a line of plain text. */
export const lineOf = (incident: Incident, zone: Zone): string =>
  [
    incident.target.name || t("Incident {id}", { id: incident.id }),
    severityWord(incident.severity),
    absolute(incident.began_at, zone),
  ].join(" · ");
