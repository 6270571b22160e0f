import type { Policy, ReplayedIncident, ReplayedPolicy } from "../api/policy";
import type { Problem } from "../api/types";
import { sentence } from "../ui/problems";
import { duration } from "../ui/words";
import { t } from "../words/t";

/** What the fields hold: text, as typed. Empty means the default. */
export interface RuleDraft {
  quorum: "majority" | "count" | "all";
  count: string;
  atLeast: string;
  firm: boolean;
  downAfter: string;
  upAfter: string;
  forS: string;
  openOn: "down" | "degraded";
  latency: string;
  certificate: string;
  ignoreMinority: boolean;
  damped: boolean;
  halfLife: string;
  begin: string;
  end: string;
}

export type RuleErrors = Partial<Record<keyof RuleDraft | "form", string>>;

const text = (n: number | undefined): string => (n === undefined ? "" : String(n));

export const ruleDraftOf = (policy: Policy): RuleDraft => ({
  quorum: policy.quorum?.rule ?? "majority",
  count: text(policy.quorum?.count),
  atLeast: text(policy.quorum?.at_least),
  firm: policy.quorum?.firm ?? false,
  downAfter: text(policy.down_after),
  upAfter: text(policy.up_after),
  forS: text(policy.for_s),
  openOn: policy.open_on ?? "down",
  latency: text(policy.degraded?.latency_ms),
  certificate: text(policy.degraded?.certificate_days),
  ignoreMinority: policy.degraded?.ignore_minority ?? false,
  damped: !policy.flapping?.off,
  halfLife: text(policy.flapping?.half_life_s),
  begin: text(policy.flapping?.begin),
  end: text(policy.flapping?.end),
});

export type ParsedRule = { ok: true; policy: Policy } | { ok: false; errors: RuleErrors };

/** The policy that was typed; ranges are the server's to judge. */
export function policyOf(draft: RuleDraft): ParsedRule {
  const errors: RuleErrors = {};
  const number = (field: keyof RuleDraft, fraction = false): number | undefined => {
    const typed = String(draft[field]).trim().replace(",", ".");
    if (typed === "") return undefined;
    const n = Number(typed);
    if (fraction ? Number.isFinite(n) : Number.isInteger(n)) return n;
    errors[field] = t(fraction ? "Enter a number." : "Enter a whole number.");
    return undefined;
  };
  const policy: Policy = compact({
    quorum: compact({
      rule: draft.quorum === "majority" ? undefined : draft.quorum,
      count: draft.quorum === "count" ? number("count") : undefined,
      at_least: number("atLeast"),
      firm: draft.firm || undefined,
    }),
    down_after: number("downAfter"),
    up_after: number("upAfter"),
    for_s: number("forS"),
    open_on: draft.openOn === "down" ? undefined : draft.openOn,
    degraded: compact({
      latency_ms: number("latency"),
      certificate_days: number("certificate"),
      ignore_minority: draft.ignoreMinority || undefined,
    }),
    flapping: compact({
      off: !draft.damped || undefined,
      half_life_s: number("halfLife"),
      begin: number("begin", true),
      end: number("end", true),
    }),
  });
  return Object.keys(errors).length > 0 ? { ok: false, errors } : { ok: true, policy };
}

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** Without what is not said, so that equal rules are equal. */
function compact<T extends object>(all: T): Defined<T> {
  const said = Object.entries(all).filter(
    ([, value]) => value !== undefined && !(typeof value === "object" && Object.keys(value).length === 0),
  );
  return Object.fromEntries(said) as Defined<T>;
}

export const pointers: readonly (readonly [`/policy/${string}`, keyof RuleDraft])[] = [
  ["/policy/quorum/rule", "quorum"],
  ["/policy/quorum/count", "count"],
  ["/policy/quorum/at_least", "atLeast"],
  ["/policy/quorum/firm", "firm"],
  ["/policy/down_after", "downAfter"],
  ["/policy/up_after", "upAfter"],
  ["/policy/for_s", "forS"],
  ["/policy/open_on", "openOn"],
  ["/policy/degraded/latency_ms", "latency"],
  ["/policy/degraded/certificate_days", "certificate"],
  ["/policy/flapping/half_life_s", "halfLife"],
  ["/policy/flapping/begin", "begin"],
  ["/policy/flapping/end", "end"],
];

/** Puts each of the server's errors at the field its pointer names; the rest goes to the form. */
export function ruleErrorsOf(problem: Problem): RuleErrors {
  const errors: RuleErrors = {};
  for (const { pointer, message } of problem.errors ?? []) {
    const field = pointers.find(([one]) => one === pointer)?.[1] ?? "form";
    errors[field] = errors[field] ? `${errors[field]} ${sentence(message)}` : sentence(message);
  }
  if (Object.keys(errors).length === 0) {
    errors.form =
      problem.status === 412
        ? t("Somebody else changed this target meanwhile. Load the page again to see their version.")
        : sentence(problem.detail || problem.title);
  }
  return errors;
}

/** An outage as both rules would have told it. */
export interface Told {
  at: number;
  now: ReplayedIncident | null;
  proposed: ReplayedIncident | null;
}

/** The incidents of both rules side by side: those that overlap are of one outage. The newest first. */
export function sideBySide(now: ReplayedPolicy, proposed: ReplayedPolicy, to: string): Told[] {
  const left = [...proposed.items];
  const rows: Told[] = now.items.map((one) => {
    const at = left.findIndex((other) => overlap(one, other, to));
    const match = at < 0 ? null : (left.splice(at, 1)[0] ?? null);
    return { at: Date.parse(one.first_slot), now: one, proposed: match };
  });
  for (const one of left) rows.push({ at: Date.parse(one.first_slot), now: null, proposed: one });
  return rows.sort((a, b) => b.at - a.at);
}

function overlap(a: ReplayedIncident, b: ReplayedIncident, to: string): boolean {
  const from = (i: ReplayedIncident) => Math.min(Date.parse(i.first_slot), Date.parse(i.began_at));
  const until = (i: ReplayedIncident) => Date.parse(i.ended_at ?? to);
  return from(a) <= until(b) && from(b) <= until(a);
}

/** What changes, in one sentence. */
export function verdictOf(now: ReplayedPolicy, proposed: ReplayedPolicy): string {
  const pages = proposed.pages - now.pages;
  const alarms = proposed.false_alarms - now.false_alarms;
  const later = (proposed.delay_p50_s ?? 0) - (now.delay_p50_s ?? 0);
  const known = now.delay_p50_s !== null && proposed.delay_p50_s !== null;
  return t(
    "{told, select, more {{pages, plural, one {# more page} other {# more pages}}} fewer {{pages, plural, one {# fewer page} other {# fewer pages}}} other {As many pages as now}}{wrong, select, more {, {alarms, plural, one {# more false alarm} other {# more false alarms}}} fewer {, {alarms, plural, one {# fewer false alarm} other {# fewer false alarms}}} other {}}{delay, select, more {, usually {time} later} fewer {, usually {time} sooner} other {}}.",
    {
      told: sign(pages),
      pages: Math.abs(pages),
      wrong: sign(alarms),
      alarms: Math.abs(alarms),
      delay: known ? sign(later) : "same",
      time: duration(Math.abs(later)),
    },
  );
}

const sign = (n: number): string => (n > 0 ? "more" : n < 0 ? "fewer" : "same");
