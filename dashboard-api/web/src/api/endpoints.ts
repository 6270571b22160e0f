import type { Check, CheckInput, ResultEvidence } from "./checks";
import { request, requestNew } from "./client";
import { sessionPath, snapshotPath } from "./early";
import type { Histogram, Matrix, TargetFigures, UptimeByDay } from "./figures";
import type { Policy, Replay } from "./policy";
import type { AssertionRule } from "./spec";
import type {
  Batch,
  BatchSet,
  DeadLetter,
  Fleet,
  Heartbeat,
  Lacks,
  LatestResults,
  Ledger,
  Overview,
  Page,
  Prober,
  RegionPlan,
  Report,
  Result,
  Retention,
  Series,
  Session,
  Snapshot,
  Target,
  TargetInput,
  Uptime,
  Ways,
} from "./types";

export function query(values: Record<string, string | number | undefined | null>): string {
  const params = new URLSearchParams();
  for (const [key, value] of Object.entries(values)) {
    if (value !== undefined && value !== null && value !== "") params.set(key, String(value));
  }
  const text = params.toString();
  return text ? `?${text}` : "";
}

export interface Span {
  from: string;
  to: string;
}

/** Every call the dashboard makes, by name. */
export const api = {
  session: (signal?: AbortSignal) => request<Session>(sessionPath, signal ? { signal } : {}),
  login: (email: string, password: string) =>
    request<Session>("/api/v1/session", { method: "POST", body: { email, password } }),
  /** The second step of a sign-in whose password was right. */
  verify: (challenge: string, code: string) =>
    request<Session>("/api/v1/session:verify", { method: "POST", body: { challenge, code } }),
  ways: () => request<Ways>("/api/v1/session/ways"),
  askPasskey: () =>
    request<{ options: { publicKey: PublicKeyCredentialRequestOptionsJSON } }>("/api/v1/session/passkey:begin", {
      method: "POST",
      body: {},
    }),
  loginWithPasskey: (credential: PublicKeyCredentialJSON) =>
    request<Session>("/api/v1/session/passkey:finish", { method: "POST", body: { credential } }),
  /** Where the browser goes to sign in with the provider, which is to ask again or not. */
  askProvider: (again: boolean) =>
    request<{ url: string }>("/api/v1/session/provider", { method: "POST", body: { again } }),
  acceptInvitation: (body: { token: string; email?: string; name: string; password: string }) =>
    request<Session>("/api/v1/invitations:accept", { method: "POST", body }),
  logout: () => request<void>("/api/v1/session", { method: "DELETE" }),
  setup: (body: { token: string; email: string; name: string; password: string }) =>
    request<Session>("/api/v1/setup", { method: "POST", body }),

  /** With at most so many ticks altogether, but one slot of each target. */
  snapshot: (ticks: number, known: string | null) => requestNew<Snapshot>(snapshotPath(ticks), known),
  /** Counts, regions, and so many of the targets that come first. */
  overview: (first: number) => request<Overview>(`/api/v1/live/overview${query({ first })}`),
  latest: (ids: number[], n: number) =>
    request<LatestResults>(`/api/v1/results/latest${query({ ids: ids.join(","), n })}`),
  /** Of at most 100 targets. */
  figures: (ids: number[]) =>
    request<Lacks & { items: TargetFigures[] }>(`/api/v1/targets:figures${query({ ids: ids.join(",") })}`),

  target: (id: number) => request<Target>(`/api/v1/targets/${id}`),
  createTarget: (body: TargetInput) => request<Target>("/api/v1/targets", { method: "POST", body }),
  updateTarget: (id: number, body: TargetInput, ifVersion?: number) =>
    request<Target>(`/api/v1/targets/${id}`, {
      method: "PATCH",
      body,
      ...(ifVersion === undefined ? {} : { ifVersion }),
    }),
  /** The same change of many targets, in one transaction: who is refused stays as it was, and is named. */
  changeTargets: (ids: number[], set: BatchSet) =>
    request<Batch>("/api/v1/targets:batch", { method: "POST", body: { ids, set }, timeoutMs: 60_000 }),
  /** What that would come to. */
  tryTargets: (ids: number[], set: BatchSet, signal: AbortSignal) =>
    request<Batch>("/api/v1/targets:batch", {
      method: "POST",
      body: { ids, set, dry_run: true },
      timeoutMs: 60_000,
      signal,
    }),
  deleteTarget: (id: number, keepalive = false) =>
    request<void>(`/api/v1/targets/${id}`, { method: "DELETE", keepalive }),

  /** Visits an address now, as the target does; nothing of it enters the history. */
  check: (body: CheckInput) => request<Check>("/api/v1/checks", { method: "POST", body }),
  getCheck: (id: string) => request<Check>(`/api/v1/checks/${encodeURIComponent(id)}`),

  /** What may be asserted of which source. */
  assertionRules: () => request<{ items: AssertionRule[] }>("/api/v1/assertions/rules"),

  results: (id: number, options: { limit: number; cursor?: string | null } & Partial<Span>) =>
    request<Page<Result>>(`/api/v1/targets/${id}/results${query({ ...options })}`),
  /** One result, and what its visit saw. */
  evidence: (id: number, region: string, scheduledAt: string) =>
    request<ResultEvidence>(`/api/v1/targets/${id}/evidence${query({ region, scheduled_at: scheduledAt })}`),
  series: (id: number, span: Span, stepS: number) =>
    request<Series>(`/api/v1/targets/${id}/series${query({ ...span, step_s: stepS })}`),
  matrix: (id: number, span: Span, stepS: number) =>
    request<Matrix>(`/api/v1/targets/${id}/matrix${query({ ...span, step_s: stepS })}`),
  histogram: (id: number, span: Span, region: string) =>
    request<Histogram>(`/api/v1/targets/${id}/histogram${query({ ...span, region })}`),
  days: (id: number, span: Span, zone: string) =>
    request<UptimeByDay>(`/api/v1/targets/${id}/uptime${query({ ...span, by: "day", zone })}`),
  uptime: (id: number, span: Span) => request<Uptime>(`/api/v1/targets/${id}/uptime${query({ ...span })}`),

  report: (month: string, zone: string) =>
    request<Report>(`/api/v1/reports/${encodeURIComponent(month)}${query({ zone })}`),

  /** What a policy would have told of the last days. */
  // A minute is left for the way: by the time it is there, ninety days would be more than ninety.
  replay: (id: number, policy: Policy, days: number, now: number) =>
    request<Replay>("/api/v1/policies:replay", {
      method: "POST",
      body: { target_ids: [id], policy, from: new Date(now - days * 86_400_000 + 60_000).toISOString() },
      timeoutMs: 40_000,
    }),

  heartbeat: (id: number) => request<Heartbeat>(`/api/v1/targets/${id}/heartbeat`),
  rotateHeartbeat: (id: number) =>
    request<Heartbeat>(`/api/v1/targets/${id}/heartbeat/token`, { method: "POST", body: {} }),

  regions: () => request<Page<RegionPlan>>("/api/v1/regions"),
  retireRegion: (region: string) =>
    request<RegionPlan>(`/api/v1/regions/${encodeURIComponent(region)}`, { method: "DELETE" }),
  forgetProber: (region: string, prober: string) =>
    request<void>(`/api/v1/regions/${encodeURIComponent(region)}/probers/${encodeURIComponent(prober)}`, {
      method: "DELETE",
    }),
  drainProber: (region: string, prober: string) =>
    request<Prober>(`/api/v1/regions/${encodeURIComponent(region)}/probers/${encodeURIComponent(prober)}:drain`, {
      method: "POST",
      body: {},
    }),
  resumeProber: (region: string, prober: string) =>
    request<Prober>(`/api/v1/regions/${encodeURIComponent(region)}/probers/${encodeURIComponent(prober)}:resume`, {
      method: "POST",
      body: {},
    }),
  fleet: () => request<Fleet>("/api/v1/fleet"),
  retention: () => request<Retention>("/api/v1/retention"),
  deadLetters: (cursor: string | null) =>
    request<Page<DeadLetter>>(`/api/v1/dead-letters${query({ limit: 100, cursor })}`),
  replayDeadLetters: (ids: readonly string[]) =>
    request<{ asked: number; gone: number; unreadable: number }>("/api/v1/dead-letters:replay", {
      method: "POST",
      body: { ids },
    }),
  ledger: (span: Span) => request<Ledger>(`/api/v1/ledger${query({ ...span })}`),
};

/** Where a report is as a file for spreadsheets. */
export const reportCsv = (month: string, zone: string): string =>
  `/api/v1/reports/${encodeURIComponent(month)}${query({ zone, format: "csv" })}`;
