// Incidents and what is said of them.

import { request } from "./client";
import { query } from "./endpoints";
import type { Clause } from "./live.gen";
import type { PostKind, PostState } from "./statusPages";
import type { Page, Status } from "./types";

export type Severity = "no_data" | "degraded" | "down";
export type IncidentState = "open" | "acknowledged" | "resolved";

export interface Incident {
  id: number;
  /** 0: it is about no target, but a blind region or a group of incidents. */
  target_id: number;
  target: { name: string; url: string; kind: string; tags: string[] };
  severity: Severity;
  state: IncidentState;
  /** The first failing check. */
  began_at: string;
  /** When it was found. */
  opened_at: string;
  acknowledged_at: string | null;
  acknowledged_by: string;
  resolved_at: string | null;
  duration_s: number;
  explanation: string;
  /** What the explanation says; of some, and of those of a release before, nothing. */
  because?: Clause[];
  failure: string;
  http_status: number;
  regions: string[];
  group_id: number | null;
}

export interface IncidentEvent {
  id: number;
  kind: "opened" | "severity" | "note" | "acknowledged" | "notified" | "resolved" | "corrected";
  at: string;
  author: string;
  text: string;
}

/** What a region saw that was asked to look again. */
export interface Confirmation {
  region: string;
  prober: string;
  slot: string;
  checked_at: string;
  status: Status;
  failure: string;
  reason: string;
  http_status: number;
  total_us: number;
  message: string;
}

/** What readers of a status page were told of it: an update of a post. */
export interface PublicUpdate {
  page_id: number;
  page: string;
  /** False: the page is a draft, and has no readers. */
  published: boolean;
  post_id: number;
  post: string;
  kind: PostKind;
  /** Within its post, from 1. */
  number: number;
  at: string;
  state: PostState;
  /** Markdown; of a long one the beginning. */
  text: string;
  /** Empty: it was not kept. */
  author: string;
}

export interface IncidentDetail extends Incident {
  timeline: IncidentEvent[];
  /** The newest 100, the oldest first. */
  public_updates: PublicUpdate[];
  confirmations: Confirmation[];
}

export interface IncidentQuery {
  state?: IncidentState;
  target_id?: number;
  group_id?: number;
  /** Only those that went on then or later. */
  from?: string;
  /** Only those that were opened before. */
  to?: string;
  limit: number;
  cursor?: string | null;
}

export const incidentApi = {
  list: (options: IncidentQuery) => request<Page<Incident>>(`/api/v1/incidents${query({ ...options })}`),
  get: (id: number) => request<IncidentDetail>(`/api/v1/incidents/${id}`),
  acknowledge: (id: number, text: string) =>
    request<IncidentDetail>(`/api/v1/incidents/${id}:acknowledge`, { method: "POST", body: text ? { text } : {} }),
  note: (id: number, text: string) =>
    request<IncidentEvent>(`/api/v1/incidents/${id}/notes`, { method: "POST", body: { text } }),
};
