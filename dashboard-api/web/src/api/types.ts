// The shapes of the public API, in one place. Instants are RFC 3339 UTC strings;
// durations carry their unit in the name (_s, _ms, _us). What is asked of a target is in
// spec.ts, what a visit saw in checks.ts. What comes over the socket is in live.gen.ts, which
// is written from the server's own types.

import type {
  CheckDelta,
  IncidentDelta,
  Target as LiveTarget,
  NodeMessage,
  PageDelta,
  Region,
  RegionDelta,
  RegionOp,
  Stretch,
  TargetOp,
  Tick,
} from "./live.gen";
import type { Policy } from "./policy";
import type { Assertion, DnsPart, HeartbeatPart, HttpPart, TcpPart, TlsPart, WebSocketPart } from "./spec";

export type { Position, RegionState } from "./live.gen";
export type { LiveTarget, Region, RegionOp, Stretch, Tick };

export type Status = Tick["status"];
export type State = LiveTarget["state"];

/** What a URL's scheme asks for. */
export type Kind = LiveTarget["kind"];

export interface Target {
  id: number;
  name: string;
  url: string;
  kind: Kind;
  interval_s: number;
  timeout_ms: number;
  /** Empty means every region. */
  regions: string[];
  active: boolean;
  /** Empty: the default. */
  policy: Policy;
  /** Empty for kinds without status codes. */
  expect: { status?: string[] };
  spec_version: number;
  created_at: string;
  updated_at: string;
  /** Empty: both. */
  family: "" | "4" | "6";
  assertions: Assertion[];
  /** Null, like the parts below: nothing but the defaults. */
  http: HttpPart | null;
  tcp: TcpPart | null;
  tls: TlsPart | null;
  dns: DnsPart | null;
  websocket: WebSocketPart | null;
  heartbeat: HeartbeatPart | null;
  tags: string[];
  /** What it depends on: while that is down, nobody is told of this one. */
  parent_id: number | null;
  /** Only in answers to writes that change how it is visited. */
  preview_check_id?: string;
  /** Why the server cannot read how it is visited, if so: what is left out here cannot be changed. */
  unreadable?: string;
}

/** What a form sends: only `url` is required to create, or kind, name and heartbeat. */
export type TargetInput = Partial<
  Pick<
    Target,
    | "name"
    | "url"
    | "kind"
    | "interval_s"
    | "timeout_ms"
    | "regions"
    | "active"
    | "expect"
    | "assertions"
    | "heartbeat"
    | "policy"
    | "tags"
    | "parent_id"
    | "http"
    | "tcp"
    | "tls"
    | "dns"
    | "websocket"
  > & {
    /** Null: both. */
    family: "4" | "6" | null;
  }
>;

/** Where a heartbeat stands. Only editors may see it: whoever knows the path can ping. */
export interface Heartbeat {
  target_id: number;
  path: string;
  paused: boolean;
  /** Null while it is paused. */
  expected_at: string | null;
  /** When it is down without a ping. */
  deadline_at: string | null;
  /** Of a run whose end was not told. */
  started_at: string | null;
  last_ping_at: string | null;
  last_signal: "" | "success" | "start" | "fail" | "log";
  exit_code: number;
  excerpt: string;
  pings: number;
}

/** A region there is, or was. */
export interface RegionPlan {
  region: string;
  state: "joining" | "active" | "leaving" | "retired";
  since: string | null;
}

export interface Page<T> {
  /** Set on a copy, which is what the API answers while ClickHouse does not: when it was made. */
  stale_since?: string;
  items: T[];
  next_cursor: string | null;
}

export interface Phases {
  dns_us: number;
  connect_us: number;
  tls_us: number;
  wait_us: number;
  transfer_us: number;
}

export interface Result extends Phases {
  target_id: number;
  region: string;
  scheduled_at: string;
  /** Null when nobody tried. */
  checked_at: string | null;
  status: Status;
  failure: string;
  reason: string;
  http_status: number;
  total_us: number;
  attempt: number;
  prober: string;
  message: string;
  address: string;
  cert_not_after: string | null;
  /** Of the last answer, such as HTTP/1.1. */
  protocol: string;
  /** Such as 1.3; empty without TLS. */
  tls_version: string;
  /** Requests, or connections, that were made. */
  hops: number;
  /** Of the last body, as sent and decoded; at most what is read of one. */
  wire_bytes: number;
  body_bytes: number;
  /** No name had to be looked up. */
  dns_cached: boolean;
  /** The prober was too busy for its times to be exact. */
  saturated: boolean;
}

export interface LatestResult {
  region: string;
  scheduled_at: string;
  status: Status;
  failure: string;
  reason: string;
  http_status: number;
  total_us: number;
  checked_at: string | null;
}

export interface LatestResults {
  stale_since?: string;
  items: { target_id: number; results: LatestResult[] }[];
}

/** What figures of a range are known not to hold. */
export interface Lacks {
  /** Only where the range begins before it: from then on figures are kept. */
  kept_since?: string | null;
  /** Only where it is longer ago than usual: checks due since then may be without a row yet. */
  settled_until?: string | null;
  /** Hours and days of which figures could not be made. */
  not_computed?: { from: string; to: string }[];
}

type Column = (number | null)[];

/** Columnar: every list has one entry per element of `x`. Phase columns are means. */
export interface Series extends Lacks {
  stale_since?: string;
  tier: string;
  step_s: number;
  partial: boolean;
  x: number[];
  count: number[];
  up: number[];
  degraded: number[];
  down: number[];
  unknown: number[];
  missed: number[];
  p50_us: Column;
  p95_us: Column;
  p99_us: Column;
  dns_us: Column;
  connect_us: Column;
  tls_us: Column;
  wait_us: Column;
  transfer_us: Column;
}

/** What slots came to; of a target as a whole each slot time counts once. */
export interface Figures {
  up: number;
  degraded: number;
  down: number;
  unknown: number;
  missed: number;
  planned: number;
  uptime: number | null;
  coverage: number | null;
  low: number | null;
  high: number | null;
  uptime_percent: string | null;
  checks: number;
  excluded: number;
  downtime_minutes: number;
  revised_at: string | null;
}

export interface ReportTarget {
  target_id: number;
  name: string;
  folded: Figures;
  incidents: { from: string; to: string; down_slots: number; downtime_minutes: number }[];
  corrections: { region: string; hour: string; revised_at: string }[];
}

export interface Report extends Lacks {
  stale_since?: string;
  month: string;
  zone: string;
  from: string;
  to: string;
  complete: boolean;
  content_hash: string;
  targets: ReportTarget[];
}

export interface Uptime extends Figures, Lacks {
  stale_since?: string;
  from: string;
  to: string;
}

/** What the overview begins with: counts of all, and the first of those that are shown worst first. */
export interface Overview {
  now: string;
  total: number;
  counts: Record<State, number>;
  items: LiveTarget[];
  regions: Region[];
}

export interface Snapshot {
  epoch: string;
  seq: number;
  mark?: string;
  now: string;
  items: LiveTarget[];
  regions: Region[];
}

/** Results that are safe on disks and not in ClickHouse yet, and their slots. */
export interface Spool {
  spooled: number;
  spool_first: string | null;
  spool_last: string | null;
}

export interface Prober extends Spool {
  name: string;
  version: string;
  /** Empty: it takes checks on, or is away. */
  state: "draining" | "drained" | "";
  /** Since when somebody wants it to take nothing on; null: nobody does. */
  drain_asked_at: string | null;
  drain_asked_by: string;
  heartbeat_at: string;
  age_s: number;
  in_flight: number;
  waiting: number;
  lateness_p50_ms: number;
  lateness_p99_ms: number;
  clickhouse: string;
  /** Empty when the prober does not say. */
  breaker: "closed" | "half_open" | "open" | "";
  allow_cidrs: string[] | null;
  spool_bytes: number;
  /** How far its clock is ahead of that of Redis; null when it does not say. */
  clock_offset_ms: number | null;
  /** An empty state: it does not say, or has not visited them yet. */
  canaries: { state: string; answered: number; all: number };
  started_at: string | null;
  /** How its life before this one ended. */
  last_exit: { cause: string; signal: string; at: string } | null;
}

export interface FleetRegion extends Spool {
  region: string;
  live: boolean;
  pending: number;
  lag_s: number;
  /** A node of the release before does not say. */
  dead_letters?: number;
  probers: Prober[] | null;
}

export interface Fleet {
  /** Set while Redis does not answer: when it last did. */
  stale_since?: string;
  redis: { version: string; embedded: boolean; durable: boolean; backlog: number; dead_letters: number };
  clickhouse: { ok: boolean; down_since: string | null };
  /** A node of the release before does not say. */
  database?: { engine: "sqlite" | "postgres"; ok: boolean; down_since: string | null; latency_ms: number | null };
  publisher: { leader: string | null; last_tick: string | null };
  regions: FleetRegion[];
  /** What came from external checkers and heartbeats and waits on the disks of API nodes. */
  outside: (Spool & { region: string })[];
}

/** How long history is kept, in hours. */
export interface Retention {
  results_h: number;
  hourly_h: number;
  daily_h: number;
}

/** A check, or a result, that was given up. */
export interface DeadLetter {
  id: string;
  kind: "check" | "row";
  region: string;
  entry_id: string;
  /** 0 when it cannot be told. */
  target_id: number;
  scheduled_at: string | null;
  reason: string;
  prober: string;
  deliveries: number;
  at: string;
  replayable: boolean;
  replay: "" | "asked" | "running" | "given_up";
  asked_at: string | null;
  tries: number;
}

export interface LedgerLine {
  region: string;
  planned: number;
  up: number;
  degraded: number;
  down: number;
  unknown: number;
  missed: number;
  in_flight: number;
  spooled: number;
  unexplained: number;
  reasons: LedgerReason[];
}

/** Why so many are no measurement: those of a line add up to its unknown and missed. */
export interface LedgerReason {
  status: "unknown" | "missed";
  reason: string;
  count: number;
}

export interface Ledger {
  stale_since?: string;
  items: LedgerLine[];
  /** As the publisher noted it. */
  publisher: { due: number; published: number; missed: number };
  from: string;
  to: string;
}

export interface User {
  id: number;
  email: string;
  name: string;
  role: "owner" | "editor" | "viewer";
  /** Rises with every change. */
  version: number;
  /** There is no password to say again: a sign-in of the last minutes takes its place. */
  passwordless?: boolean;
}

/** What there is to sign in with besides a password. */
export interface Ways {
  passkeys: boolean;
  /** Of single sign-on. */
  provider: { label: string } | null;
}

export interface Session {
  /** Null for an API key. */
  user: User | null;
  role: User["role"];
  setup_needed: boolean;
  /** Nobody is signed in yet: a code is to follow. */
  second_factor?: { challenge: string; expires_at: string };
}

export interface FieldError {
  /** JSON pointer into the request body, such as "/interval_s". */
  pointer: string;
  code: string;
  message: string;
}

export interface Problem {
  type: string;
  title: string;
  status: number;
  detail?: string;
  code?: string;
  request_id?: string;
  errors?: FieldError[];
  setup_needed?: boolean;
}

/** What can be made the same of many targets at once. */
export type BatchSet = Partial<Pick<Target, "active" | "interval_s" | "timeout_ms" | "regions">> &
  Pick<TargetInput, "parent_id" | "expect" | "family" | "assertions" | "policy"> & {
    add_tags?: string[];
    remove_tags?: string[];
  };

export interface Before {
  ids: number[];
  set: BatchSet;
}

export interface Batch {
  changed: { id: number; spec_version: number; preview_check_id?: string }[];
  unchanged: number[];
  refused: { id: number; problem: Problem }[];
  /** What was of those that changed: each set, given again for its ids and in this order, puts them back. A node of the release before does not say it. */
  before?: Before[];
}

/** What a node says of the one channel that pages read: `targets`. */
export type ServerMessage = Exclude<NodeMessage, CheckDelta | IncidentDelta | PageDelta | RegionDelta>;

/** In a delta an item's ticks are only those that are new since the last frame. */
export type Op = TargetOp;
