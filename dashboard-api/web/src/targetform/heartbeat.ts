import type { HeartbeatPart } from "../api/spec";
import type { Target, TargetInput } from "../api/types";
import { t } from "../words/t";
import type { Errors, Parsed } from "./form";

export const units = [
  ["s", t("seconds"), 1],
  ["min", t("minutes"), 60],
  ["h", t("hours"), 3_600],
  ["d", t("days"), 86_400],
] as const;
export type Unit = (typeof units)[number][0];

/** A length of time as it is typed. */
export interface Length {
  n: string;
  unit: Unit;
}

/** What the fields of a heartbeat hold. Of `period` and `cron` the one that `by` names counts. */
export interface HeartbeatDraft {
  name: string;
  by: "period" | "cron";
  period: Length;
  cron: string;
  zone: string;
  grace: Length;
}

export const emptyHeartbeat = (zone: string): HeartbeatDraft => ({
  name: "",
  by: "period",
  period: { n: "1", unit: "h" },
  cron: "30 2 * * *",
  zone,
  grace: { n: "5", unit: "min" },
});

/** In the largest unit that leaves no rest. */
export function lengthOf(seconds: number): Length {
  const [unit, , size] = units.findLast(([, , size]) => seconds > 0 && seconds % size === 0) ?? units[0];
  return { n: String(seconds / size), unit };
}

/** Whole seconds, or null for what is no length. */
export function secondsOf({ n, unit }: Length): number | null {
  const size = units.find(([name]) => name === unit)?.[2] ?? 1;
  const seconds = Number(n.replace(",", ".")) * size;
  return n.trim() !== "" && Number.isFinite(seconds) && seconds > 0 ? Math.round(seconds) : null;
}

export function heartbeatDraftOf(target: Target, zone: string): HeartbeatDraft {
  const { period_s, cron, zone: own, grace_s } = target.heartbeat ?? { grace_s: 0 };
  const empty = emptyHeartbeat(zone);
  return {
    name: target.name,
    by: cron ? "cron" : "period",
    period: period_s ? lengthOf(period_s) : empty.period,
    cron: cron ?? empty.cron,
    zone: cron ? (own ?? "UTC") : zone,
    grace: grace_s ? lengthOf(grace_s) : empty.grace,
  };
}

/** The request body: for a new target all of it, for an edit only what changed. */
export function heartbeatBody(draft: HeartbeatDraft, before: HeartbeatDraft | null): Parsed {
  const errors: Errors = {};
  const body: TargetInput = before ? {} : { kind: "heartbeat" };
  const name = draft.name.trim();
  if (name === "") errors.name = t("Name the job.");
  else if (name !== before?.name) body.name = name;
  const grace = secondsOf(draft.grace);
  if (grace === null) errors.grace = t("Enter how late a ping may be, such as 5 minutes.");
  const part: HeartbeatPart = { grace_s: grace ?? 0 };
  if (draft.by === "period") {
    const period = secondsOf(draft.period);
    if (period === null) errors.period = t("Enter the time between two pings, such as 1 hour.");
    else part.period_s = period;
  } else {
    part.cron = draft.cron.trim().replace(/\s+/g, " ");
    if (part.cron === "") errors.cron = t("Enter five fields, such as {example}.", { example: "30 2 * * 1-5" });
    if (draft.zone.trim() === "") errors.zone = t("Choose the time zone that the times are in.");
    else part.zone = draft.zone.trim();
  }
  if (Object.keys(errors).length > 0) return { ok: false, errors };
  const unchanged = before && JSON.stringify({ ...draft, name: "" }) === JSON.stringify({ ...before, name: "" });
  if (!unchanged) body.heartbeat = part;
  return { ok: true, body };
}
