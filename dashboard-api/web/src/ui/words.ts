import type { Kind, State, Status } from "../api/types";

/** Worst first: the order in which people want to see them. */
export const states: readonly State[] = ["down", "degraded", "no_data", "maintenance", "up", "paused"];

export const stateWords: Record<State, string> = {
  up: "Up",
  degraded: "Degraded",
  down: "Down",
  maintenance: "Maintenance",
  no_data: "No data",
  paused: "Paused",
};

export const statusWords: Record<Status, string> = {
  up: "Up",
  degraded: "Degraded",
  down: "Down",
  unknown: "Unknown",
  missed: "Missed",
};

export const stateOfStatus = (status: Status): State =>
  status === "unknown" || status === "missed" ? "no_data" : status;

const failures: Record<string, string> = {
  dns: "The name could not be resolved",
  connect_refused: "The connection was refused",
  connect_timeout: "The connection timed out",
  tls_expired: "The certificate has expired",
  tls_name: "The certificate is for another name",
  tls_untrusted: "The certificate is not trusted",
  tls_other: "The TLS handshake failed",
  status_code: "Unexpected status",
  body: "The body did not match",
  header: "A header did not match",
  latency: "Slower than allowed",
  redirect_limit: "Too many redirects",
  too_large: "The answer was too large",
  protocol: "The answer broke the rules of its protocol",
  reset: "The connection was cut off",
  timeout: "No answer in time",
  reported: "The job said that it failed",
};

const reasons: Record<string, string> = {
  expired: "Not started before it expired",
  backpressure: "The check queue was full",
  publisher_down: "No publisher was running",
  redis_down: "Redis could not be reached",
  redis_lost: "Redis lost its data",
  region_down: "No prober of the region was running",
  trimmed: "Removed from the queue before it was read",
  lost: "Lost, cause not known",
  blocked_address: "The address is not allowed to be probed",
  redirect_blocked: "A redirect led to an address that is not allowed",
  probe_dns: "The prober's own name resolution failed",
  probe_blind: "The prober had no network",
  probe_hang: "The probe did not finish",
  frozen: "The prober was frozen while probing",
  host_budget: "Too many checks of this host at once",
  dead_letter: "The check was set aside after repeated crashes",
  internal: "An internal error of the prober",
};

/** One plain phrase for a failure or a reason, with the status code where it says more. */
export function explain(failure: string, reason: string, httpStatus = 0): string {
  if (failure === "status_code" && httpStatus > 0) return `Unexpected status code ${httpStatus}`;
  if (failure) return failures[failure] ?? failure;
  if (reason) return reasons[reason] ?? reason;
  return "";
}

export function plural(n: number, one: string, many = `${one}s`): string {
  return `${count(n)} ${n === 1 ? one : many}`;
}

const grouped = new Intl.NumberFormat("en-GB");
export const count = (n: number): string => grouped.format(n);

/** A latency for people: three significant figures at most. */
export function latency(us: number | null | undefined): string {
  if (us === null || us === undefined) return "–";
  if (us < 10_000) return `${(us / 1000).toFixed(1)} ms`;
  if (us < 999_500) return `${Math.round(us / 1000)} ms`;
  return `${(us / 1_000_000).toFixed(2)} s`;
}

export function duration(seconds: number): string {
  const s = Math.max(0, Math.round(seconds));
  if (s < 60) return `${s} s`;
  if (s < 3600) return s % 60 && s < 600 ? `${Math.floor(s / 60)} min ${s % 60} s` : `${Math.round(s / 60)} min`;
  if (s < 86_400) {
    const minutes = Math.round((s % 3600) / 60);
    return minutes && minutes < 60 ? `${Math.floor(s / 3600)} h ${minutes} min` : `${Math.round(s / 3600)} h`;
  }
  const hours = Math.floor((s % 86_400) / 3600);
  return hours ? `${Math.floor(s / 86_400)} d ${hours} h` : `${Math.floor(s / 86_400)} d`;
}

/** 99.95 % is never rounded up to 100 %. */
export function percent(share: number | null, digits = 2): string {
  if (share === null) return "–";
  if (share >= 1) return "100%";
  const scale = 10 ** digits;
  return `${(Math.floor(share * 100 * scale) / scale).toFixed(digits)}%`;
}

const kindWords: Record<Kind, string> = {
  http: "Web",
  tcp: "TCP",
  tls: "TLS",
  dns: "DNS",
  icmp: "Ping",
  grpc: "gRPC",
  websocket: "WebSocket",
  heartbeat: "Heartbeat",
};

/** The name of a kind of check; one that a newer API knows is shown as it is. */
export const kindWord = (kind: string): string => kindWords[kind as Kind] ?? kind;

/** The status code that says something of a check: with gRPC it only says that there was an answer. */
export const tellingStatus = (kind: string, httpStatus: number): number => (kind === "grpc" ? 0 : httpStatus);

/** The address without what everybody knows; of a DNS question the name, its type and who is asked. */
export function shortUrl(url: string): string {
  if (/^heartbeat:/i.test(url)) return url.replace(/^heartbeat:\/\//i, "");
  const question = /^dns:\/\/([^/]*)\/([^?]*)(?:\?type=(\w+))?$/i.exec(url);
  if (!question) return url.replace(/^https?:\/\//i, "").replace(/\/$/, "");
  const [, server, name, type] = question;
  return `${name} ${type ?? "A"}${server ? ` at ${server}` : ""}`;
}

/** A size for people. */
export function bytes(n: number): string {
  if (n < 1024) return `${n} B`;
  if (n < 1024 * 1024) return `${(n / 1024).toFixed(n < 10_240 ? 1 : 0)} KiB`;
  return `${(n / 1024 / 1024).toFixed(1)} MiB`;
}

/** An address that is safe to link to, or null. Names and addresses come from other people. */
export function safeHref(url: string): string | null {
  try {
    const parsed = new URL(url);
    return parsed.protocol === "http:" || parsed.protocol === "https:" ? parsed.href : null;
  } catch {
    return null;
  }
}
