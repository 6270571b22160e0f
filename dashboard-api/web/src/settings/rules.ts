import type { AlertRule, AlertTerms, Channel, Hours } from "../api/alerts";
import type { Severity } from "../api/incidents";
import type { Problems } from "../ui/problems";
import { plural, stateWords } from "../ui/words";

export const severities: Severity[] = ["down", "degraded", "no_data"];
export const weekdays: [string, string][] = [
  ["mon", "Mon"],
  ["tue", "Tue"],
  ["wed", "Wed"],
  ["thu", "Thu"],
  ["fri", "Fri"],
  ["sat", "Sat"],
  ["sun", "Sun"],
];

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
    if (!/^\d*$/.test(trimmed)) problems[pointer] = "Enter whole minutes.";
    return Number(trimmed) || 0;
  };
  if (draft.name.trim() === "") problems["/name"] = "Give it a name, such as “Everything to the team”.";
  if (draft.channels.length === 0 && draft.steps.length === 0) {
    problems["/channel_ids"] = "Choose whom to tell, here or in an escalation.";
  }
  const hours = ({ days, from, to }: HoursDraft): Hours => ({ days, from, to });
  for (const [pointer, all] of [["/schedule", draft.schedule] as const, ["/quiet_hours", draft.quiet] as const]) {
    if (all.some((one) => !one.from || !one.to)) problems[pointer] = "Enter when it begins and ends.";
  }
  if (draft.steps.some((step) => !/^[1-9]\d*$/.test(step.minutes.trim()))) {
    problems["/escalations"] = "Enter after how many minutes.";
  } else if (draft.steps.some((step) => step.channels.length === 0)) {
    problems["/escalations"] = "Choose whom to tell.";
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

/** A rule in one or two sentences. */
export function describeRule(rule: AlertTerms, channels: readonly Pick<Channel, "id" | "name">[]): string {
  const name = (id: number) => channels.find((one) => one.id === id)?.name ?? `channel ${id}`;
  const list = (ids: number[]) => ids.map(name).join(", ");
  const what =
    rule.severities.length === 0
      ? "Every incident"
      : `Incidents that are ${rule.severities.map((one) => stateWords[one].toLowerCase()).join(" or ")}`;
  const scope: string[] = [];
  if (rule.target_ids.length > 0) scope.push(plural(rule.target_ids.length, "target"));
  if (rule.tags.length > 0) scope.push(`targets tagged ${rule.tags.join(" or ")}`);
  const of = scope.length > 0 ? ` of ${scope.join(" and ")}` : "";
  const parts: string[] = [];
  if (rule.channel_ids.length > 0) {
    const together = rule.digest_minutes > 0 ? `, together every ${rule.digest_minutes} min` : "";
    parts.push(`${what}${of} to ${list(rule.channel_ids)}${together}.`);
  } else parts.push(`${what}${of}:`);
  for (const step of rule.escalations) {
    parts.push(`Not acknowledged after ${step.after_minutes} min: ${list(step.channel_ids)}.`);
  }
  if (rule.reminder_minutes > 0) parts.push(`Again every ${rule.reminder_minutes} min.`);
  if (rule.quiet_hours.length > 0) parts.push(`Quiet ${rule.quiet_hours.map(hoursWord).join(", ")} ${rule.zone}.`);
  if (rule.schedule.length > 0) parts.push(`Only ${rule.schedule.map(hoursWord).join(", ")} ${rule.zone}.`);
  return parts.join(" ");
}

const hoursWord = ({ days = [], from, to }: Hours): string =>
  `${days.length > 0 && days.length < 7 ? `${days.join(" ")} ` : ""}${from}–${to}`;
