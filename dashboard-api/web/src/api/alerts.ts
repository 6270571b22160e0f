// Whom to tell of incidents, and when.

import { request } from "./client";
import { query } from "./endpoints";
import type { Severity } from "./incidents";
import type { Page } from "./types";

export type ChannelKind =
  | "webhook"
  | "email"
  | "slack"
  | "discord"
  | "telegram"
  | "teams"
  | "pagerduty"
  | "opsgenie"
  | "ntfy"
  | "gotify"
  | "shoutrrr"
  | "pushover";

/** Settings of a kind; secrets read "[secret]", and written so they are kept. */
export type ChannelSettings = Record<string, string | number | string[]>;

export type Channel = {
  id: number;
  name: string;
  kind: ChannelKind;
  /** Who is reached, without secrets. */
  to: string;
  enabled: boolean;
  /** False: sealed with another key; its settings must be written again. */
  readable: boolean;
  version: number;
  created_at: string;
  updated_at: string;
} & Partial<Record<ChannelKind, ChannelSettings>>;

export type ChannelInput = { name?: string; enabled?: boolean } & Partial<Record<ChannelKind, ChannelSettings>>;

export interface ChannelTest {
  delivered: boolean;
  reason: string;
  status: number;
  took_ms: number;
  exchanges: { request: string; sent: string; status: number; answer: string; took_ms: number }[];
}

export interface Delivery {
  id: number;
  /** Null: a test. */
  incident_id: number | null;
  event: string;
  key: string;
  attempt: number;
  at: string;
  took_ms: number;
  outcome: "delivered" | "retry" | "failed";
  status: number;
  excerpt: string;
}

/** Something that was to be told of a target, and how far that has come. */
export interface Tiding {
  id: number;
  incident_id: number;
  channel_id: number;
  channel: string;
  channel_kind: ChannelKind;
  event: string;
  /** Cancelled: there was no need any more. */
  state: "pending" | "sending" | "delivered" | "failed" | "cancelled";
  attempts: number;
  created_at: string;
  /** While it is pending: when it is told, or tried again. */
  next_at: string | null;
  settled_at: string | null;
  status: number;
  /** Why it did not arrive, at the newest attempt. */
  reason: string;
}

/** A stretch of each of some days; it ends on the next day if `to` is not later than `from`. */
export interface Hours {
  days?: string[];
  from: string;
  to: string;
}

export interface Step {
  after_minutes: number;
  channel_ids: number[];
}

export interface AlertTerms {
  name: string;
  enabled: boolean;
  tags: string[];
  target_ids: number[];
  /** Empty: all. */
  severities: Severity[];
  zone: string;
  /** Empty: always. */
  schedule: Hours[];
  quiet_hours: Hours[];
  quiet_lets_through: Severity[];
  digest_minutes: number;
  channel_ids: number[];
  escalations: Step[];
  reminder_minutes: number;
  send_acknowledged: boolean;
  send_resolved: boolean;
}

export interface AlertRule extends AlertTerms {
  id: number;
  version: number;
  created_at: string;
  updated_at: string;
  /** What of it the server cannot read, if so: it speaks by what can be read, and cannot be changed. */
  unreadable?: string;
}

/** A rule that would tell somebody of a target, and of which of its incidents. */
export interface MatchedRule {
  rule: AlertRule;
  tells: ("down" | "degraded")[];
}

const channels = "/api/v1/channels";
const rules = "/api/v1/notification-rules";
const matching = (version: number | undefined) => (version === undefined ? {} : { ifVersion: version });

export const alertApi = {
  channels: () => request<Page<Channel>>(`${channels}?limit=1000`),
  createChannel: (body: ChannelInput) => request<Channel>(channels, { method: "POST", body }),
  updateChannel: (id: number, body: ChannelInput, version?: number) =>
    request<Channel>(`${channels}/${id}`, { method: "PATCH", body, ...matching(version) }),
  deleteChannel: (id: number, keepalive = false) => request<void>(`${channels}/${id}`, { method: "DELETE", keepalive }),
  /** A provider may take its time. */
  testChannel: (id: number, event: "test" | "resolved") =>
    request<ChannelTest>(`${channels}/${id}:test`, { method: "POST", body: { event }, timeoutMs: 60_000 }),
  deliveries: (id: number, cursor: string | null) =>
    request<Page<Delivery>>(`${channels}/${id}/deliveries${query({ limit: 30, cursor })}`),
  tidings: (target: number, cursor: string | null) =>
    request<Page<Tiding>>(`/api/v1/targets/${target}/deliveries${query({ limit: 20, cursor })}`),

  rules: () => request<Page<AlertRule>>(`${rules}?limit=1000`),
  /** Those that would tell of a target, which need not be saved. */
  matchRules: (target_id: number | null, tags: readonly string[], signal: AbortSignal) =>
    request<{ items: MatchedRule[] }>(`${rules}:match`, { method: "POST", body: { target_id, tags }, signal }),
  createRule: (body: AlertTerms) => request<AlertRule>(rules, { method: "POST", body }),
  updateRule: (id: number, body: Partial<AlertTerms>, version?: number) =>
    request<AlertRule>(`${rules}/${id}`, { method: "PATCH", body, ...matching(version) }),
  deleteRule: (id: number, keepalive = false) => request<void>(`${rules}/${id}`, { method: "DELETE", keepalive }),
};
