import type { AlertRule, AlertTerms, Channel, Hours } from "../api/alerts";
import type { Severity } from "../api/incidents";
import type { Problems } from "../ui/problems";
import { listed } from "../ui/words";
import { locale, t } from "../words/t";

export const severities: Severity[] = ["down", "degraded", "no_data"];
// A Monday, and so on.
const weekday = new Intl.DateTimeFormat(locale(), { weekday: "short", timeZone: "UTC" });
export const weekdays = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"].map(
  (day, i) => [day, weekday.format(Date.UTC(2024, 0, 1 + i))] as const,
);

export interface StepDraft {
  key: number;
  minutes: string;
  channels: number[];
}
export interface HoursDraft extends Required<Hours> {
  key: number;
}

/** What the fields hold. */
export interface RuleDraft {
  name: string;
  severities: Severity[];
  tags: string;
  targets: number[];
  channels: number[];
  steps: StepDraft[];
  reminder: string;
  digest: string;
  zone: string;
  schedule: HoursDraft[];
  quiet: HoursDraft[];
  quietLets: Severity[];
  acknowledged: boolean;
  resolved: boolean;
}

export const pointers = [
  "/name",
  "/severities",
  "/tags",
  "/target_ids",
  "/channel_ids",
  "/escalations",
  "/reminder_minutes",
  "/digest_minutes",
  "/zone",
  "/schedule",
  "/quiet_hours",
  "/quiet_lets_through",
];

let keys = 0;
export const newKey = (): number => ++keys; // rows without ids of their own

export const emptyRule = (zone: string): RuleDraft => ({
  name: "",
  severities: [],
  tags: "",
  targets: [],
  channels: [],
  steps: [],
  reminder: "",
  digest: "",
  zone,
  schedule: [],
  quiet: [],
  quietLets: [],
  acknowledged: false,
  resolved: true,
});

const hoursDraft = (hours: Hours): HoursDraft => ({ days: [], ...hours, key: newKey() });
const minutes = (n: number): string => (n > 0 ? String(n) : "");

export const draftOf = (rule: AlertRule): RuleDraft => ({
  name: rule.name,
  severities: rule.severities,
  tags: rule.tags.join(", "),
  targets: rule.target_ids,
  channels: rule.channel_ids,
  steps: rule.escalations.map((step) => ({
    key: newKey(),
    minutes: String(step.after_minutes),
    channels: step.channel_ids,
  })),
  reminder: minutes(rule.reminder_minutes),
  digest: minutes(rule.digest_minutes),
  zone: rule.zone,
  schedule: rule.schedule.map(hoursDraft),
  quiet: rule.quiet_hours.map(hoursDraft),
  quietLets: rule.quiet_lets_through,
  acknowledged: rule.send_acknowledged,
  resolved: rule.send_resolved,
});

/** The terms to send, and what can be said before asking the server. */
export function termsOf(draft: RuleDraft): { terms: Omit<AlertTerms, "enabled">; problems: Problems } {
  const problems: Problems = {};
  const whole = (pointer: string, text: string): number => {
    const trimmed = text.trim();
    if (!/^\d*$/.test(trimmed)) problems[pointer] = t("Enter whole minutes.");
    return Number(trimmed) || 0;
  };
  if (draft.name.trim() === "") problems["/name"] = t("Give it a name, such as “Everything to the team”.");
  if (draft.channels.length === 0 && draft.steps.length === 0) {
    problems["/channel_ids"] = t("Choose whom to tell, here or in an escalation.");
  }
  const hours = ({ days, from, to }: HoursDraft): Hours => ({ days, from, to });
  for (const [pointer, all] of [["/schedule", draft.schedule] as const, ["/quiet_hours", draft.quiet] as const]) {
    if (all.some((one) => !one.from || !one.to)) problems[pointer] = t("Enter when it begins and ends.");
  }
  if (draft.steps.some((step) => !/^[1-9]\d*$/.test(step.minutes.trim()))) {
    problems["/escalations"] = t("Enter after how many minutes.");
  } else if (draft.steps.some((step) => step.channels.length === 0)) {
    problems["/escalations"] = t("Choose whom to tell.");
  }
  return {
    problems,
    terms: {
      name: draft.name.trim(),
      severities: draft.severities,
      tags: draft.tags
        .split(",")
        .map((tag) => tag.trim())
        .filter(Boolean),
      target_ids: draft.targets,
      channel_ids: draft.channels,
      escalations: draft.steps.map((step) => ({
        after_minutes: Number(step.minutes.trim()) || 0,
        channel_ids: step.channels,
      })),
      reminder_minutes: whole("/reminder_minutes", draft.reminder),
      digest_minutes: whole("/digest_minutes", draft.digest),
      zone: draft.zone,
      schedule: draft.schedule.map(hours),
      quiet_hours: draft.quiet.map(hours),
      quiet_lets_through: draft.quietLets,
      send_acknowledged: draft.acknowledged,
      send_resolved: draft.resolved,
    },
  };
}

const either = new Intl.ListFormat(locale(), { type: "disjunction" });
const dayWords: Readonly<Record<string, string>> = {
  mon: t("mon"),
  tue: t("tue"),
  wed: t("wed"),
  thu: t("thu"),
  fri: t("fri"),
  sat: t("sat"),
  sun: t("sun"),
};
const severityWords: Readonly<Record<Severity, string>> = {
  down: t("down"),
  degraded: t("degraded"),
  no_data: t("no data"),
};

/** A rule in one or two sentences. */
export function describeRule(rule: AlertTerms, channels: readonly Pick<Channel, "id" | "name">[]): string {
  const names = (ids: number[]) =>
    listed(ids.map((id) => channels.find((one) => one.id === id)?.name ?? t("channel {id}", { id })));
  const incidents = whichIncidents(rule);
  const told = { incidents, channels: names(rule.channel_ids), n: rule.digest_minutes };
  const parts = [
    rule.channel_ids.length === 0
      ? t("{incidents}:", { incidents })
      : rule.digest_minutes > 0
        ? t("{incidents} to {channels}, together every {n} min.", told)
        : t("{incidents} to {channels}.", told),
  ];
  for (const step of rule.escalations) {
    parts.push(
      t("Not acknowledged after {n} min: {channels}.", { n: step.after_minutes, channels: names(step.channel_ids) }),
    );
  }
  if (rule.reminder_minutes > 0) parts.push(t("Again every {n} min.", { n: rule.reminder_minutes }));
  const hours = (all: Hours[]) => ({ hours: listed(all.map(hoursWord)), zone: rule.zone });
  if (rule.quiet_hours.length > 0) parts.push(t("Quiet {hours} {zone}.", hours(rule.quiet_hours)));
  if (rule.schedule.length > 0) parts.push(t("Only {hours} {zone}.", hours(rule.schedule)));
  return parts.join(" ");
}

/** Of which state, and of which targets. */
function whichIncidents({ severities: chosen, target_ids, tags }: AlertTerms): string {
  const values = {
    which: chosen.length === 0 ? "all" : "some",
    states: either.format(chosen.map((one) => severityWords[one] ?? one)),
    n: target_ids.length,
    tags: either.format(tags),
  };
  if (target_ids.length > 0 && tags.length > 0)
    return t(
      "{which, select, all {Every incident of {n, plural, one {# target} other {# targets}} and targets tagged {tags}} other {Incidents that are {states} of {n, plural, one {# target} other {# targets}} and targets tagged {tags}}}",
      values,
    );
  if (target_ids.length > 0)
    return t(
      "{which, select, all {Every incident of {n, plural, one {# target} other {# targets}}} other {Incidents that are {states} of {n, plural, one {# target} other {# targets}}}}",
      values,
    );
  if (tags.length > 0)
    return t(
      "{which, select, all {Every incident of targets tagged {tags}} other {Incidents that are {states} of targets tagged {tags}}}",
      values,
    );
  return t("{which, select, all {Every incident} other {Incidents that are {states}}}", values);
}

function hoursWord({ days = [], from, to }: Hours): string {
  if (days.length === 0 || days.length === 7) return `${from}–${to}`;
  return t("{days} {from}–{to}", { days: days.map((day) => dayWords[day] ?? day).join(" "), from, to });
}
