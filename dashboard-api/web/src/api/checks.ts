// What visits saw, and checks on demand.

import type { Check, CheckResult } from "./live.gen";
import type { Result, Target } from "./types";

export type { Check, CheckResult } from "./live.gen";

/** What a visit saw, without secrets: as of a check on demand, and its body. */
export type Evidence = Pick<
  CheckResult,
  | "hops"
  | "status_line"
  | "headers"
  | "cookies"
  | "received"
  | "received_cut"
  | "records"
  | "rcode"
  | "tls_version"
  | "tls_cipher"
  | "certificates"
  | "failed"
  | "command"
> & { body?: string; body_cut?: boolean };

/** One result; its evidence is null when it was up, or nobody measured. */
export interface ResultEvidence {
  stale_since?: string;
  result: Result;
  evidence: Evidence | null;
}

/**
 * What to visit: a target's own terms, without what only a saved one has. With target_id they are an
 * edit of that target: what is not said is as it is stored, secrets included.
 */
export type CheckInput = Partial<
  Pick<
    Target,
    | "url"
    | "kind"
    | "timeout_ms"
    | "regions"
    | "expect"
    | "family"
    | "assertions"
    | "http"
    | "tcp"
    | "tls"
    | "dns"
    | "websocket"
  >
> & { target_id?: number };

export const hasEnded = (check: Pick<Check, "state">): boolean =>
  check.state === "COMPLETED" || check.state === "FAILED_PERMANENT";
