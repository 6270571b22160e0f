// What was changed of a target, in words.

import type { RevisionChange } from "../api/revisions";
import type { TargetView } from "../live/store";
import type { ChangeRow } from "../ui/ChangeLine";
import { duration, listed } from "../ui/words";
import { t } from "../words/t";

const SECRET = "[secret]";

const names: Record<string, string> = {
  "/name": t("Name"),
  "/url": t("URL"),
  "/kind": t("Kind"),
  "/interval_s": t("Interval"),
  "/timeout_ms": t("Timeout"),
  "/regions": t("Regions"),
  "/tags": t("Tags"),
  "/parent": t("Depends on"),
  "/active": t("Checks"),
  "/expect/status": t("Expected status codes"),
  "/assertions": t("Assertions"),
  "/http/method": t("Method"),
  "/http/headers": t("Headers"),
  "/http/body": t("Body"),
  "/http/body_secret": t("Body"),
  "/http/query_secret": t("Secret part of the query"),
  "/http/username": t("User name"),
  "/http/password": t("Password"),
  "/http/token": t("Bearer token"),
  "/http/redirects": t("Redirects"),
  "/http/version": t("HTTP version"),
  "/websocket/headers": t("Headers"),
  "/heartbeat/cron": t("Cron expression"),
  "/heartbeat/grace_s": t("Grace"),
};

/** A line for each field. What has no word of its own is called as the API calls it. */
export const linesOf = (changes: readonly RevisionChange[]): ChangeRow[] =>
  changes.map(({ pointer, from, to, shortened }) => {
    const field = names[pointer] ?? pointer.slice(1).replaceAll("/", " / ");
    const name = shortened ? t("{field}, its beginning", { field }) : field;
    if (from === SECRET && to === SECRET)
      return { key: pointer, name, before: null, after: t("Changed; it is never shown"), code: false };
    const [before, after] = [shown(pointer, from), shown(pointer, to)];
    return { key: pointer, name, before: before.text, after: after.text, code: before.code || after.code };
  });

/** What is shown live of a target's settings: while it stays, they were not changed, as far as is seen. */
export const settingsOf = ({
  name,
  url,
  interval_s,
  timeout_ms,
  regions,
  tags,
  parent_id,
  active,
}: Pick<
  TargetView,
  "name" | "url" | "interval_s" | "timeout_ms" | "regions" | "tags" | "parent_id" | "active"
>): string => JSON.stringify([name, url, interval_s, timeout_ms, regions, tags, parent_id, active]);

interface Shown {
  text: string;
  code: boolean;
}
const plain = (text: string): Shown => ({ text, code: false });
const code = (text: string): Shown => ({ text, code: true });

function shown(pointer: string, value: unknown): Shown {
  if (value === SECRET) return plain(t("secret"));
  if (pointer === "/regions" && Array.isArray(value) && value.length === 0) return plain(t("every region"));
  if (value === null || value === undefined || value === "" || (Array.isArray(value) && value.length === 0))
    return plain(t("none"));
  if (pointer === "/active") return plain(value ? t("Running") : t("Paused"));
  if (typeof value === "number" && pointer.endsWith("_s")) return plain(duration(value));
  if (typeof value === "number" && pointer.endsWith("_ms")) return plain(duration(value / 1000));
  if (typeof value === "string") return pointer === "/name" || pointer === "/parent" ? plain(value) : code(value);
  if (Array.isArray(value)) {
    if (value.every((one) => typeof one === "string")) return plain(listed(value));
    return code(value.map(item).join("; "));
  }
  return code(JSON.stringify(value));
}

/** A header as it is sent; an assertion as it is written, without what is not said. */
function item(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const one = value as Record<string, unknown>;
  if (typeof one.source === "string")
    return [one.source, one.name, one.op, one.value, one.severity].filter((part) => part).join(" ");
  if (typeof one.name === "string") return `${one.name}: ${one.secret === undefined ? (one.value ?? "") : t("secret")}`;
  return JSON.stringify(value);
}

/** A change is shown live before it is written down: soon after, or some seconds later where the database is slow. */
const WRITTEN_AFTER_MS = [1_000, 11_000];

/** Asks when a change should have been written down; gives what ends that. */
export function whenWritten(ask: () => void): () => void {
  const timers = WRITTEN_AFTER_MS.map((ms) => setTimeout(ask, ms));
  return () => {
    for (const timer of timers) clearTimeout(timer);
  };
}
