import type { Tiding } from "../api/alerts";
import type { State } from "../api/types";

export type Result = "delivered" | "again" | "failed" | "waiting" | "due" | "sending" | "cancelled";

/** How far telling has come: what is due is to be told at once. */
export function resultOf(one: Pick<Tiding, "state" | "attempts" | "next_at">, now: number): Result {
  if (one.state !== "pending") return one.state;
  if (one.attempts > 0) return "again";
  return one.next_at !== null && Date.parse(one.next_at) > now ? "waiting" : "due";
}

export const iconOf: Record<Result, State> = {
  delivered: "up",
  again: "degraded",
  failed: "down",
  waiting: "no_data",
  due: "no_data",
  sending: "no_data",
  cancelled: "paused",
};
