import type { Check, CheckInput, CheckResult } from "../api/checks";
import type { Target, TargetInput } from "../api/types";
import type { Parsed } from "./form";

/** What a check has nothing of. */
const onlyOfSaved = ["name", "interval_s", "active", "policy", "tags", "parent_id", "heartbeat"] as const;

/**
 * The form as a check on demand: of a new target as it stands, of a saved one what would be changed, on
 * top of what is stored. So its secrets are sent, which are not known here.
 */
export function testBody(body: TargetInput, target: Pick<Target, "id"> | null): CheckInput {
  const visit: CheckInput = Object.fromEntries(
    Object.entries(body).filter(([member]) => !(onlyOfSaved as readonly string[]).includes(member)),
  );
  if (target) return { target_id: target.id, ...visit };
  // A check has no interval: the timeout is what saving would make of it.
  if (visit.timeout_ms === undefined && (body.interval_s ?? 0) >= 10)
    visit.timeout_ms = Math.min((body.interval_s ?? 0) * 500, 10_000);
  return visit;
}

/** Whether the form is still what was tested. */
export const sameVisit = (now: Parsed, target: Target | null, tested: CheckInput): boolean =>
  now.ok && JSON.stringify(testBody(now.body, target)) === JSON.stringify(tested);

/** Whether stored secrets are sent: parts that the form replaces have none but those it names. */
export function sendsStored(target: Target | null, body: CheckInput): boolean {
  if (!target) return false;
  const { http, tcp, websocket } = { ...target, ...body };
  return JSON.stringify([http, tcp, websocket]).includes('"[secret]"');
}

/** The regions of a check in order, each with what it saw, if it has answered. */
export function regionsOf(check: Pick<Check, "regions" | "results">): [string, CheckResult | null][] {
  const names = new Set([...check.regions, ...check.results.map((result) => result.region)]);
  return [...names].sort().map((name) => [name, check.results.find((result) => result.region === name) ?? null]);
}

/** What the last test says of one assertion. */
export type Judged =
  | { of: "passed" }
  | { of: "failed"; seen: { region: string; message: string }[] }
  | { of: "unjudged" }
  | { of: "waiting" };

/** Null before anything was seen. A visit that failed before assertions were looked at judges none. */
export function judgedOf(check: Pick<Check, "results">, index: number): Judged | null {
  const measured = check.results.filter((result) => result.checked_at !== null);
  if (measured.length === 0) return null;
  const judging = measured.filter((result) => result.status === "up" || (result.failed ?? []).length > 0);
  const seen = judging.flatMap(({ region, failed }) =>
    (failed ?? []).filter((one) => one.index === index).map(({ message }) => ({ region, message })),
  );
  if (seen.length > 0) return { of: "failed", seen };
  return { of: judging.length > 0 ? "passed" : "unjudged" };
}
