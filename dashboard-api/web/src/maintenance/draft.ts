import type { MaintenanceChange, MaintenanceInput, MaintenanceWindow } from "../api/maintenance";
import type { Problems } from "../ui/problems";
import { listed } from "../ui/words";
import { locale, t } from "../words/t";
import { wallOf } from "./wall";

export type Repeat = "once" | "daily" | "weekly" | "monthly" | "own";

/** What a window is for; one of them. */
export type Scope = "target" | "tags" | "everything";

export interface Draft {
  name: string;
  scope: Scope;
  target: number | null;
  tags: string[];
  starts: string;
  zone: string;
  hours: string;
  repeat: Repeat;
  /** RFC 5545 names, such as MO. */
  weekdays: string[];
  /** Of a month: by its day, by its nth weekday, or its last day. */
  monthly: "date" | "weekday" | "last";
  rule: string;
}

export const fields = [
  "/name",
  "/everything",
  "/target_id",
  "/tags",
  "/starts_at",
  "/zone",
  "/duration_s",
  "/rrule",
] as const;

const dayName = new Intl.DateTimeFormat(locale(), { weekday: "short", timeZone: "UTC" });
const MONDAY = Date.UTC(2024, 0, 1);
export const weekdays = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"].map((day, i): [string, string] => [
  day,
  dayName.format(MONDAY + i * 86_400_000),
]);
const bySunday = ["SU", "MO", "TU", "WE", "TH", "FR", "SA"];

/** The rule of what was chosen; empty: once. */
export function rruleOf(draft: Draft): string {
  switch (draft.repeat) {
    case "once":
      return "";
    case "daily":
      return "FREQ=DAILY";
    case "weekly": {
      const chosen = weekdays.map(([day]) => day).filter((day) => draft.weekdays.includes(day));
      return chosen.length > 0 ? `FREQ=WEEKLY;BYDAY=${chosen.join(",")}` : "FREQ=WEEKLY";
    }
    case "monthly": {
      const start = new Date(wallOf(draft.starts));
      if (draft.monthly === "last") return "FREQ=MONTHLY;BYMONTHDAY=-1";
      if (Number.isNaN(start.getTime())) return "FREQ=MONTHLY";
      if (draft.monthly === "date") return `FREQ=MONTHLY;BYMONTHDAY=${start.getUTCDate()}`;
      const nth = Math.ceil(start.getUTCDate() / 7);
      return `FREQ=MONTHLY;BYDAY=${nth > 4 ? -1 : nth}${bySunday[start.getUTCDay()]}`;
    }
    default:
      return draft.rule
        .trim()
        .toUpperCase()
        .replace(/^RRULE:/, "");
  }
}

/** A window as the form shows it: a rule that is none of the usual is shown as it is. */
export function draftOf(window: MaintenanceWindow): Draft {
  const plain: Draft = {
    name: window.name,
    scope: window.everything ? "everything" : window.tags.length > 0 ? "tags" : "target",
    target: window.target_id,
    tags: window.tags,
    starts: window.starts_at.replace(/:00$/, ""),
    zone: window.zone,
    hours: hoursOf(window.duration_s),
    repeat: "own",
    weekdays: /^FREQ=WEEKLY;BYDAY=([A-Z,]+)$/.exec(window.rrule)?.[1]?.split(",") ?? [],
    monthly: "date",
    rule: window.rrule,
  };
  const usual: Partial<Draft>[] = [
    { repeat: "once" },
    { repeat: "daily" },
    { repeat: "weekly" },
    { repeat: "monthly", monthly: "last" },
    { repeat: "monthly", monthly: "date" },
    { repeat: "monthly", monthly: "weekday" },
  ];
  const found = usual.find((one) => rruleOf({ ...plain, ...one }) === window.rrule);
  return found ? { ...plain, ...found, rule: "" } : plain;
}

/** As hours are entered: exact enough that the seconds come back. */
const hoursOf = (seconds: number): string => String(Number((seconds / 3600).toFixed(4)));

export const secondsOf = (hours: string): number => Math.round(Number(hours.replace(",", ".")) * 3600);

/** Only what is chosen counts, whatever was entered for the others. */
function scopeOf({ scope, target, tags }: Draft): Pick<MaintenanceInput, "everything" | "target_id" | "tags"> {
  if (scope === "everything") return { everything: true };
  return scope === "tags" ? { tags } : { target_id: target ?? 0 };
}

export function bodyOf(draft: Draft): { body: MaintenanceInput; problems: Problems } {
  const problems: Problems = {};
  if (draft.name.trim() === "") problems["/name"] = t("Say what is done, such as “Database upgrade”.");
  if (draft.scope === "target" && draft.target === null)
    problems["/target_id"] = t("Choose the target, or everything.");
  if (draft.scope === "tags" && draft.tags.length === 0) problems["/tags"] = t("Enter at least one tag.");
  if (!Number.isFinite(wallOf(draft.starts))) problems["/starts_at"] = t("Enter a day and a time.");
  const seconds = secondsOf(draft.hours);
  if (draft.hours.trim() === "" || !(seconds >= 60)) problems["/duration_s"] = t("Enter hours, such as 2 or 0.5.");
  if (draft.repeat === "own" && draft.rule.trim() === "")
    problems["/rrule"] = t("Enter a rule, such as {example}.", { example: "FREQ=WEEKLY;BYDAY=SU" });
  const rrule = rruleOf(draft);
  return {
    problems,
    body: {
      name: draft.name.trim(),
      ...scopeOf(draft),
      starts_at: draft.starts.length === 16 ? `${draft.starts}:00` : draft.starts,
      zone: draft.zone,
      duration_s: seconds,
      ...(rrule ? { rrule } : {}),
    },
  };
}

/** What of a window another body changes; what it is for is given as a whole. */
export function changesOf(window: MaintenanceWindow, body: MaintenanceInput): MaintenanceChange {
  const change: MaintenanceChange = {};
  if (body.name !== window.name) change.name = body.name;
  const { everything = false, target_id = null, tags = [] } = body;
  const tagsAlike = [...tags].sort().join() === [...window.tags].sort().join();
  if (everything !== window.everything || target_id !== window.target_id || !tagsAlike)
    Object.assign(change, { everything, target_id, tags });
  if (body.starts_at !== window.starts_at) change.starts_at = body.starts_at;
  if (body.zone !== window.zone) change.zone = body.zone;
  if (body.duration_s !== window.duration_s) change.duration_s = body.duration_s;
  if ((body.rrule ?? "") !== window.rrule) change.rrule = body.rrule ?? "";
  return change;
}

/** A day as it stands in "Every {days}". */
const everyDay = (day: string): string =>
  t(
    "{day, select, MO {Monday} TU {Tuesday} WE {Wednesday} TH {Thursday} FR {Friday} SA {Saturday} SU {Sunday} other {{day}}}",
    { day },
  );

/** A rule in words where it is one of the usual, else as it is. */
export function ruleWord(rrule: string): string {
  if (rrule === "") return t("Once");
  if (rrule === "FREQ=DAILY") return t("Every day");
  if (rrule === "FREQ=WEEKLY") return t("Every week");
  const weekly = /^FREQ=WEEKLY;BYDAY=([A-Z,]+)$/.exec(rrule);
  if (weekly?.[1]) return t("Every {days}", { days: listed(weekly[1].split(",").map(everyDay)) });
  const date = /^FREQ=MONTHLY;BYMONTHDAY=(-?\d+)$/.exec(rrule);
  if (date)
    return date[1] === "-1" ? t("On the last day of each month") : t("On day {day} of each month", { day: date[1] });
  const nth = /^FREQ=MONTHLY;BYDAY=(-1|[1-4])(MO|TU|WE|TH|FR|SA|SU)$/.exec(rrule);
  if (nth)
    return t(
      "On the {nth, select, 1 {first} 2 {second} 3 {third} 4 {fourth} other {last}} {day, select, MO {Monday} TU {Tuesday} WE {Wednesday} TH {Thursday} FR {Friday} SA {Saturday} other {Sunday}} of each month",
      { nth: nth[1], day: nth[2] },
    );
  return rrule;
}
