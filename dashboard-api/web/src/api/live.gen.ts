// Written by `make generate` from the types that the node speaks with. Do not edit.

export interface Certificate {
  issuer: string;
  names?: string[] | null;
  not_after: string;
  not_before: string;
  sha256: string;
  subject: string;
}

export interface Check {
  created_at: string;
  error: string;
  id: string;
  kind: string;
  last_attempt_at: string | null;
  next_attempt_at: string | null;
  regions: string[];
  results: CheckResult[];
  retry_count: number;
  state: "QUEUED" | "IN_PROGRESS" | "COMPLETED" | "FAILED_RETRYABLE" | "FAILED_PERMANENT";
  target_id: number | null;
  timeout_ms: number;
  updated_at: string;
  url: string;
}

export interface CheckDelta {
  ch: string;
  from_seq: number;
  mark?: string;
  ops: CheckOp[];
  seq: number;
  t: "delta";
}

export interface CheckOp {
  id: string;
  item?: Check;
  op: "upsert" | "remove";
}

export interface CheckResult {
  address: string;
  attempt: number;
  body_bytes: number;
  cert_not_after: string | null;
  certificates?: Certificate[] | null;
  checked_at: string | null;
  command?: string;
  connect_us: number;
  cookies?: string[] | null;
  dns_cached: boolean;
  dns_us: number;
  failed?: Failed[] | null;
  failure: string;
  headers?: HeaderLine[] | null;
  hops?: Hop[] | null;
  http_status: number;
  message: string;
  page_source?: string;
  page_source_cut?: boolean;
  prober: string;
  protocol: string;
  rcode?: string;
  reason: string;
  received?: string;
  received_cut?: boolean;
  records?: Record[] | null;
  region: string;
  saturated: boolean;
  status: "up" | "degraded" | "down" | "unknown" | "missed";
  status_line?: string;
  tls_cipher?: string;
  tls_us: number;
  tls_version?: string;
  total_us: number;
  transfer_us: number;
  wait_us: number;
  wire_bytes: number;
}

export interface Clause {
  at?: string;
  is:
    | "paused"
    | "maintenance"
    | "unchecked"
    | "unheard"
    | "no_data"
    | "up"
    | "down"
    | "degraded"
    | "doubted"
    | "silent"
    | "blind"
    | "depends"
    | "changed"
    | "began"
    | "needs"
    | "times"
    | "lasting"
    | "held"
    | "dependents"
    | "together"
    | "more";
  n?: number;
  name?: string;
  names?: string[];
  of?: number;
  seen?: Seen[];
  what?: string;
}

export interface ComponentNow {
  by_hand?: boolean;
  id: number;
  state: string;
}

export interface Err {
  code: "malformed" | "unknown_message" | "unknown_channel" | "forbidden_channel" | "too_many_channels";
  id: string;
  message: string;
  t: "err";
}

export interface Failed {
  index: number;
  message: string;
  severity: string;
}

export interface HeaderLine {
  name: string;
  value: string;
}

export interface Hello {
  t: "hello";
}

export interface Hop {
  address?: string;
  dns_cached?: boolean;
  phases: Phases;
  protocol?: string;
  status?: number;
  url: string;
}

export interface Incident {
  acknowledged_at: string | null;
  acknowledged_by: string;
  because?: Clause[];
  began_at: string;
  duration_s: number;
  explanation: string;
  failure: string;
  group_id: number | null;
  http_status: number;
  id: number;
  opened_at: string;
  regions: string[];
  resolved_at: string | null;
  severity: "no_data" | "degraded" | "down";
  state: "open" | "acknowledged" | "resolved";
  target: SubjectBody;
  target_id: number;
}

export interface IncidentDelta {
  ch: string;
  from_seq: number;
  mark?: string;
  ops: IncidentOp[];
  seq: number;
  t: "delta";
}

export interface IncidentOp {
  id: number;
  item?: Incident;
  op: "upsert" | "remove";
}

export interface Now {
  by_hand?: boolean;
  components: ComponentNow[];
  evidence_at: string | null;
  state: string;
  tag: string;
}

export interface OK {
  ch: string;
  epoch: string;
  id: string;
  mark?: string;
  recovered: boolean;
  seq: number;
  t: "ok";
}

export interface PageDelta {
  ch: string;
  from_seq: number;
  mark?: string;
  ops: PageOp[];
  seq: number;
  t: "delta";
}

export interface PageOp {
  id: string;
  item?: Now;
  op: "upsert" | "remove";
}

export interface Phases {
  connect_us: number;
  dns_us: number;
  tls_us: number;
  transfer_us: number;
  wait_us: number;
}

export interface Ping {
  t: "ping";
}

export interface Pong {
  t: "pong";
}

export interface Position {
  epoch: string;
  mark?: string;
  seq: number;
}

export interface Record {
  data: string;
  ttl: number;
  type: string;
}

export interface Region {
  heartbeat_at: string | null;
  live: boolean;
  probers: number;
  region: string;
}

export interface RegionDelta {
  ch: string;
  from_seq: number;
  mark?: string;
  ops: RegionOp[];
  seq: number;
  t: "delta";
}

export interface RegionOp {
  id: string;
  item?: Region;
  op: "upsert" | "remove";
}

export interface RegionState {
  checked_at: string;
  failure: string;
  fresh: boolean;
  http_status: number;
  reason: string;
  region: string;
  scheduled_at: string;
  status: "up" | "degraded" | "down" | "unknown" | "missed";
  total_us: number;
}

export interface Resync {
  ch: string;
  reason: string;
  t: "resync";
}

export interface Seen {
  http_status?: number;
  n?: number;
  of?: number;
  region: string;
  said?: string;
  what: string;
}

export interface Stretch {
  from: string;
  to: string | null;
}

export interface Sub {
  ch: string;
  from?: Position;
  id: string;
  t: "sub";
}

export interface SubjectBody {
  kind: string;
  name: string;
  tags: string[];
  url: string;
}

export interface Target {
  active: boolean;
  because?: Clause[];
  fresh_until: string | null;
  id: number;
  interval_s: number;
  kind: "http" | "tcp" | "tls" | "dns" | "icmp" | "grpc" | "websocket" | "heartbeat";
  last_result_at: string | null;
  maintained?: Stretch[];
  name: string;
  p50_us: number | null;
  parent_id: number | null;
  region_states: RegionState[];
  regions: string[];
  since: string | null;
  state: "up" | "degraded" | "down" | "maintenance" | "no_data" | "paused";
  tags: string[];
  ticks: Tick[];
  timeout_ms: number;
  url: string;
  why: string;
}

export interface TargetDelta {
  ch: string;
  from_seq: number;
  mark?: string;
  ops: TargetOp[];
  seq: number;
  t: "delta";
}

export interface TargetOp {
  id: number;
  item?: Target;
  op: "upsert" | "remove";
}

export interface Tick {
  at: string;
  failure: string;
  reason: string;
  region: string;
  status: "up" | "degraded" | "down" | "unknown" | "missed";
  total_us: number;
}

export interface Unsub {
  ch: string;
  t: "unsub";
}

export interface Welcome {
  epoch: string;
  server_time: string;
  t: "welcome";
}

export type BrowserMessage = Hello | Pong | Sub | Unsub;

export type NodeMessage =
  | CheckDelta
  | Err
  | IncidentDelta
  | OK
  | PageDelta
  | Ping
  | RegionDelta
  | Resync
  | TargetDelta
  | Welcome;
