// What visits saw, and checks on demand.

import type { Kind, Phases, Result, Status, Target } from "./types";

export interface Hop {
  url: string;
  address?: string;
  protocol?: string;
  status?: number;
  phases: Phases;
  dns_cached?: boolean;
}

export interface Certificate {
  subject: string;
  issuer: string;
  names?: string[];
  not_before: string;
  not_after: string;
  sha256: string;
}

/** An assertion that did not pass: the index is that of the target's list. */
export interface Failed {
  index: number;
  severity: "fail" | "degrade";
  message: string;
}

/** One answer of a DNS check. */
export interface DnsRecord {
  type: string;
  data: string;
  /** Seconds. */
  ttl: number;
}

interface Sight {
  hops?: Hop[];
  status_line?: string;
  headers?: { name: string; value?: string }[];
  cookies?: string[];
  received?: string;
  records?: DnsRecord[];
  rcode?: string;
  tls_version?: string;
  tls_cipher?: string;
  certificates?: Certificate[];
  failed?: Failed[];
  command?: string;
}

/** What a visit saw, without secrets. */
export interface Evidence extends Sight {
  body?: string;
  body_cut?: boolean;
}

/** One result; its evidence is null when it was up, or nobody measured. */
export interface ResultEvidence {
  stale_since?: string;
  result: Result;
  evidence: Evidence | null;
}

export type CheckState = "QUEUED" | "IN_PROGRESS" | "COMPLETED" | "FAILED_RETRYABLE" | "FAILED_PERMANENT";

/** What a region saw of a check on demand; the members of Sight only when one check is asked for. */
export interface CheckResult extends Sight, Phases {
  region: string;
  prober: string;
  attempt: number;
  checked_at: string | null;
  status: Status;
  failure: string;
  reason: string;
  message: string;
  http_status: number;
  total_us: number;
  address: string;
  protocol: string;
  wire_bytes: number;
  body_bytes: number;
  saturated: boolean;
  cert_not_after: string | null;
  page_source?: string;
  page_source_cut?: boolean;
}

/** A check on demand. */
export interface Check {
  id: string;
  url: string;
  kind: Kind;
  timeout_ms: number;
  regions: string[];
  target_id: number | null;
  state: CheckState;
  retry_count: number;
  created_at: string;
  updated_at: string;
  last_attempt_at: string | null;
  next_attempt_at: string | null;
  error: string;
  results: CheckResult[];
}

/** What to visit: a target's own terms, without what only a saved one has. */
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
>;
