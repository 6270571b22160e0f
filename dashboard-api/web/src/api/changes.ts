// What differs between the last good and the first bad result of the regions of an incident.

import { request } from "./client";
import type { Result } from "./types";

export interface Difference {
  what:
    | "failure"
    | "http_status"
    | "phase"
    | "target"
    | "address"
    | "certificate"
    | "issuer"
    | "expiry"
    | "redirect"
    | "tls"
    | "protocol"
    | "headers";
  /** Empty: none. Of a phase its time in µs, of an expiry an instant, of headers a hash, of a target that was edited its version. */
  before: string;
  after: string;
  /** Of a phase: which. */
  phase: "" | "dns" | "connect" | "tls" | "wait" | "transfer";
  /** Of a phase: the check ended in it; else its time grew. */
  ended: boolean;
  /** Of headers: those that differ. */
  headers: { name: string; before: string; after: string }[];
}

/** Something of which it is not known whether it changed. */
export interface Gap {
  what: "address" | "certificate" | "redirect" | "headers";
  why: "no_print" | "unsteady" | "no_evidence" | "not_reached" | "elsewhere";
}

export interface RegionChanges {
  region: string;
  /** Null: there is none in the week before the first bad one. */
  good: Result | null;
  bad: Result;
  differences: Difference[];
  unknown: Gap[];
}

export interface Changes {
  stale_since?: string;
  /** Why there are no regions. */
  missing: "" | "no_target" | "not_kept" | "no_failure" | "by_policy";
  regions: RegionChanges[];
}

export const changesOf = (incident: number) => request<Changes>(`/api/v1/incidents/${incident}/changes`);
