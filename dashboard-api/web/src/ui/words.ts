import type { Kind, State, Status } from "../api/types";
import { locale, t } from "../words/t";

/** Worst first: the order in which people want to see them. */
export const states: readonly State[] = ["down", "degraded", "no_data", "maintenance", "up", "paused"];

export const stateWords: Record<State, string> = {
  up: t("Up"),
  degraded: t("Degraded"),
  down: t("Down"),
  no_data: t("No data"),
  maintenance: t("Maintenance"),
  paused: t("Paused"),
};

export const statusWords: Record<Status, string> = {
  up: t("Up"),
  degraded: t("Degraded"),
  down: t("Down"),
  unknown: t("Unknown"),
  missed: t("Missed"),
};

export const stateOfStatus = (status: Status): State =>
  status === "unknown" || status === "missed" ? "no_data" : status;

const failures: Record<string, string> = {
  dns: t("The name could not be resolved"),
  connect_refused: t("The connection was refused"),
  connect_timeout: t("The connection timed out"),
  tls_expired: t("The certificate has expired"),
  tls_name: t("The certificate is for another name"),
  tls_untrusted: t("The certificate is not trusted"),
  tls_other: t("The TLS handshake failed"),
  status_code: t("Unexpected status"),
  body: t("The body did not match"),
  header: t("A header did not match"),
  latency: t("Slower than allowed"),
  redirect_limit: t("Too many redirects"),
  too_large: t("The answer was too large"),
  protocol: t("The answer broke the rules of its protocol"),
  reset: t("The connection was cut off"),
  timeout: t("No answer in time"),
  reported: t("The job said that it failed"),
};

const reasons: Record<string, string> = {
  expired: t("Not started before it expired"),
  backpressure: t("The check queue was full"),
  publisher_down: t("No publisher was running"),
  redis_down: t("Redis could not be reached"),
  redis_lost: t("Redis lost its data"),
  region_down: t("No prober of the region was running"),
  trimmed: t("Removed from the queue before it was read"),
  lost: t("Lost, cause not known"),
  blocked_address: t("The address is not allowed to be probed"),
  redirect_blocked: t("A redirect led to an address that is not allowed"),
  probe_dns: t("The prober's own name resolution failed"),
  probe_blind: t("The prober had no network"),
  probe_hang: t("The probe did not finish"),
  frozen: t("The prober was frozen while probing"),
  host_budget: t("Too many checks of this host at once"),
  dead_letter: t("The check was set aside after repeated crashes"),
  internal: t("An internal error of the prober"),
};

/** One plain phrase for a failure or a reason, with the status code where it says more. */
export function explain(failure: string, reason: string, httpStatus = 0): string {
  if (failure === "status_code" && httpStatus > 0)
    return t("Unexpected status code {code}", { code: String(httpStatus) });
  if (failure) return failures[failure] ?? failure;
  if (reason) return reasons[reason] ?? reason;
  return "";
}

const grouped = new Intl.NumberFormat(locale());
export const count = (n: number): string => grouped.format(n);

const row = new Intl.ListFormat(locale(), { style: "narrow" });
/** Several names or figures in a row. */
export const listed = (items: Iterable<string>): string => row.format(items);
export const listedParts = (items: Iterable<string>) => row.formatToParts(items);

const fixed = new Map<number, Intl.NumberFormat>();
function decimal(n: number, digits: number): string {
  let format = fixed.get(digits);
  if (!format) {
    format = new Intl.NumberFormat(locale(), {
      minimumFractionDigits: digits,
      maximumFractionDigits: digits,
      useGrouping: false,
    });
    fixed.set(digits, format);
  }
  return format.format(n);
}

/** A latency for people: three significant figures at most. */
export function latency(us: number | null | undefined): string {
  if (us === null || us === undefined) return "–";
  if (us < 10_000) return t("{n} ms", { n: decimal(us / 1000, 1) });
  if (us < 999_500) return t("{n} ms", { n: decimal(us / 1000, 0) });
  return t("{n} s", { n: decimal(us / 1_000_000, 2) });
}

export function duration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  const s = whole % 60;
  const min = Math.round((whole % 3600) / 60);
  const h = Math.floor((whole % 86_400) / 3600);
  if (whole < 60) return t("{s} s", { s: whole });
  if (whole < 3600)
    return s && whole < 600
      ? t("{min} min {s} s", { min: Math.floor(whole / 60), s })
      : t("{min} min", { min: Math.round(whole / 60) });
  if (whole < 86_400)
    return min && min < 60 ? t("{h} h {min} min", { h, min }) : t("{h} h", { h: Math.round(whole / 3600) });
  const d = Math.floor(whole / 86_400);
  return h ? t("{d} d {h} h", { d, h }) : t("{d} d", { d });
}

/** 99.95 % is never rounded up to 100 %. */
export function percent(share: number | null, digits = 2): string {
  if (share === null) return "–";
  const scale = 10 ** digits;
  const [n, shown] = share >= 1 ? [100, 0] : [Math.floor(share * 100 * scale) / scale, digits];
  return t("{n}%", { n: decimal(n, shown) });
}

const kindWords: Record<Kind, string> = {
  http: t("Web"),
  tcp: "TCP",
  tls: "TLS",
  dns: "DNS",
  icmp: t("Ping"),
  grpc: "gRPC",
  websocket: "WebSocket",
  heartbeat: t("Heartbeat"),
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
  const asked = `${name} ${type ?? "A"}`;
  return server ? t("{asked} at {server}", { asked, server }) : asked;
}

/** A size for people. */
export function bytes(n: number): string {
  if (n < 1024) return t("{n} B", { n: decimal(n, 0) });
  if (n < 1024 * 1024) return t("{n} KiB", { n: decimal(n / 1024, n < 10_240 ? 1 : 0) });
  return t("{n} MiB", { n: decimal(n / 1024 / 1024, 1) });
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
