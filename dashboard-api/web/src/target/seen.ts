import type { Evidence } from "../api/checks";
import type { Status } from "../api/types";

/** What a visit saw is kept of visits that were not up; without one there is nothing to see. */
export const keepsEvidence = (kind: string, status: Status): boolean =>
  kind !== "heartbeat" && (status === "down" || status === "degraded");

/** The status line and the headers, as they came. */
export const answerOf = (seen: Evidence): string =>
  [seen.status_line ?? "", ...(seen.headers ?? []).map(({ name, value }) => `${name}: ${value}`)]
    .filter(Boolean)
    .join("\n");

/** Whether a certificate was valid when it was seen. */
export function validity(of: { not_before: string; not_after: string }, at: string): "early" | "valid" | "over" {
  const seen = Date.parse(at);
  if (seen > Date.parse(of.not_after)) return "over";
  return seen < Date.parse(of.not_before) ? "early" : "valid";
}
