import type { Problem, Target, TargetInput } from "../api/types";
import { sentence } from "../ui/problems";
import { t } from "../words/t";

/** What the fields hold: text, as typed. Empty means the server's default. */
export interface Draft {
  url: string;
  name: string;
  interval: string;
  timeout: string;
  regions: string[];
  status: string;
}

export type FieldName =
  | "url"
  | "name"
  | "interval"
  | "timeout"
  | "regions"
  | "status"
  | "assertions"
  | "period"
  | "cron"
  | "zone"
  | "grace"
  | "tags"
  | "parent"
  | "form"
  | Pointer;
/** Fields of the parts and of the rule are called as the server points at them. */
type Section = "http" | "tcp" | "tls" | "dns" | "websocket" | "policy";
export type Pointer = "/family" | `/${Section}` | `/${Section}/${string}`;
export type Errors = Partial<Record<FieldName, string>>;

export const emptyDraft: Draft = { url: "", name: "", interval: "60", timeout: "", regions: [], status: "" };

export const draftOf = (target: Target): Draft => ({
  url: target.url,
  name: target.name,
  interval: String(target.interval_s),
  timeout: String(target.timeout_ms / 1000),
  regions: target.regions ?? [],
  status: (target.expect?.status ?? []).join(", "),
});

/** Adds https:// to what has no scheme; everything else is the server's to judge. */
export function completeUrl(text: string): string {
  const url = text.trim();
  if (url === "" || /^[a-z][a-z0-9+.-]*:\/\//i.test(url)) return url;
  const hostAndPort = /^[^/?#:]+:\d+([/?#]|$)/.test(url);
  if (!hostAndPort && /^[a-z][a-z0-9+.-]*:/i.test(url)) return url;
  return `https://${url}`;
}

/** Whether an address is of the web: only those answer with a status code. */
export const hasStatus = (url: string): boolean => /^($|https?:)/i.test(completeUrl(url));

export type Parsed = { ok: true; body: TargetInput } | { ok: false; errors: Errors };

/** The request body: for a new target only what was filled in, for an edit only what changed. */
export function toBody(draft: Draft, before: Draft | null): Parsed {
  const errors: Errors = {};
  const body: TargetInput = {};
  const changed = (field: keyof Draft) =>
    before === null ? String(draft[field]).trim() !== "" : String(draft[field]).trim() !== String(before[field]).trim();

  const url = completeUrl(draft.url);
  if (url === "") errors.url = t("Enter the address to watch.");
  else if (before === null || url !== before.url) body.url = url;
  if (changed("name")) body.name = draft.name.trim();
  if (changed("interval")) {
    const seconds = Number(draft.interval);
    if (draft.interval.trim() === "" || !Number.isInteger(seconds)) errors.interval = t("Enter whole seconds.");
    else body.interval_s = seconds;
  }
  if (changed("timeout")) {
    const seconds = Number(draft.timeout);
    if (draft.timeout.trim() === "" || !Number.isFinite(seconds))
      errors.timeout = t("Enter seconds, such as {whole} or {part}.", { whole: "5", part: "0.5" });
    else body.timeout_ms = Math.round(seconds * 1000);
  }
  if (changed("regions")) body.regions = draft.regions;
  if (changed("status")) body.expect = { status: draft.status.split(/[\s,]+/).filter(Boolean) };
  return Object.keys(errors).length > 0 ? { ok: false, errors } : { ok: true, body };
}

const pointers: [string, FieldName][] = [
  ["/url", "url"],
  ["/name", "name"],
  ["/interval_s", "interval"],
  ["/timeout_ms", "timeout"],
  ["/regions", "regions"],
  ["/expect", "status"],
  ["/assertions", "assertions"],
  ["/heartbeat/period_s", "period"],
  ["/heartbeat/cron", "cron"],
  ["/heartbeat/zone", "zone"],
  ["/heartbeat/grace_s", "grace"],
  ["/tags", "tags"],
  ["/parent_id", "parent"],
];

const isOwnField = (pointer: string): pointer is Pointer =>
  /^\/(family$|(http|tcp|tls|dns|websocket|policy)($|\/))/.test(pointer);

/** Puts each of the server's errors at the field its pointer names; the rest goes to the form. */
export function errorsOf(problem: Problem): Errors {
  const errors: Errors = {};
  const put = (field: FieldName, message: string) => {
    errors[field] = errors[field] ? `${errors[field]} ${message}` : message;
  };
  for (const { pointer, message } of problem.errors ?? []) {
    const found = pointers.find(([prefix]) => pointer === prefix || pointer.startsWith(`${prefix}/`));
    put(found?.[1] ?? (isOwnField(pointer) ? pointer : "form"), sentence(message));
  }
  if (Object.keys(errors).length === 0) {
    const text = sentence(problem.detail || problem.title);
    put("form", problem.request_id ? t("{said} (request {id})", { said: text, id: problem.request_id }) : text);
  }
  return errors;
}
