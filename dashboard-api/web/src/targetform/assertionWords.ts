import { t } from "../words/t";

/** Sources of assertions, for people. One that has no word here is shown as the server calls it. */
export const sourceWords: Partial<Record<string, string>> = {
  status: t("Status code"),
  header: t("Header"),
  body: t("Body"),
  json: t("JSON in the body"),
  body_size: t("Size of the body"),
  body_hash: t("SHA-256 of the body"),
  latency: t("Response time"),
  phase: t("Time of one phase"),
  certificate_days: t("Days left of the certificate"),
  redirect: t("Where it redirects to"),
  protocol: t("Protocol"),
  tls_version: t("TLS version"),
  dns: t("DNS records"),
  rcode: t("DNS response code"),
  address: t("Address"),
  received: t("Received text"),
};

export const opWords: Partial<Record<string, string>> = {
  equals: t("equals"),
  not_equals: t("does not equal"),
  contains: t("contains"),
  not_contains: t("does not contain"),
  matches: t("matches"),
  not_matches: t("does not match"),
  exists: t("is there"),
  absent: t("is absent"),
  in: t("is one of"),
  not_in: t("is none of"),
  lt: t("is less than"),
  lte: t("is at most"),
  gt: t("is more than"),
  gte: t("is at least"),
};

/** What the name of an assertion holds. */
export const nameLabels: Partial<Record<string, string>> = {
  header: t("Name of the header"),
  json: "JSONPath",
  dns: t("Record type"),
};

/** What is to be written, by source for names and by type for values: the same in every language. */
export const examples: Partial<Record<string, string>> = {
  header: "content-type",
  json: "$.status",
  dns: "MX",
  pattern: "^v[0-9]+$",
  ms: "500",
  status: "200",
  statuses: "200-299, 301",
  address: "192.0.2.1",
  addresses: "192.0.2.0/24, 2001:db8::/32",
  http: "HTTP/2",
  tls: "1.3",
  rcode: "NOERROR",
  rcodes: "NOERROR,NXDOMAIN",
};

const lists = ["texts", "statuses", "addresses", "rcodes", "dns_texts", "json_texts"];

export function valueLabel(source: string, type: string): string {
  if (type === "ms") return t("Milliseconds");
  if (type === "pattern") return t("Pattern (RE2)");
  if (source === "body_size") return t("Bytes");
  if (source === "certificate_days") return t("Days");
  return lists.includes(type) ? t("Values, comma-separated") : t("Value");
}
