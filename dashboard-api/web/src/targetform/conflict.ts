// Two people changed a target at once: what each of them did, and the form over the newest version.

import type { RevisionChange } from "../api/revisions";
import type { Target, TargetInput } from "../api/types";

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** The fields over another version: those that were changed here stay, the others are as they are there. */
export function rebased<T extends object>(mine: T, before: T, now: T): T {
  const kept = (Object.keys(mine) as (keyof T)[]).filter((field) => !same(mine[field], before[field]));
  return { ...now, ...(Object.fromEntries(kept.map((field) => [field, mine[field]])) as Partial<T>) };
}

const members = [
  "name",
  "url",
  "interval_s",
  "timeout_ms",
  "regions",
  "active",
  "policy",
  "expect",
  "family",
  "assertions",
  "http",
  "tcp",
  "tls",
  "dns",
  "websocket",
  "heartbeat",
  "tags",
  "parent_id",
] as const;

/** The fields of a part by pointer; what is no part is one itself. Nothing said is null. */
function fieldsOf(pointer: string, value: unknown): [string, unknown][] {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return [[pointer, value === "" ? null : (value ?? null)]];
  return Object.entries(value).map(([field, of]) => [`${pointer}/${field}`, of]);
}

const SECRET = "[secret]";

/** A secret that was typed is not shown either. */
const shown = (pointer: string, value: unknown): unknown =>
  value !== null && /\/(password|token|\w+_secret)$/.test(pointer) ? SECRET : value;

export interface Differences {
  /** What saving would put in place of theirs. */
  replaced: RevisionChange[];
  /** What they changed, and stays so. */
  kept: RevisionChange[];
}

/** What others changed between two versions, beside what is to be saved over the later one. */
export function differences(opened: Target, now: Target, body: TargetInput): Differences {
  const found: Differences = { replaced: [], kept: [] };
  for (const member of members) {
    const [was, is] = [opened[member], now[member]];
    if (same(was, is)) continue;
    const saved = member in body ? body[member as keyof TargetInput] : is;
    const versions = [was, is, saved].map((one) => new Map(fieldsOf(`/${member}`, one)));
    const [before, theirs, mine] = versions as [Map<string, unknown>, Map<string, unknown>, Map<string, unknown>];
    for (const pointer of new Set(versions.flatMap((one) => [...one.keys()]))) {
      const [from, to, at] = [before, theirs, mine].map((one) => one.get(pointer) ?? null);
      if (same(from, to)) continue;
      if (same(to, at)) found.kept.push({ pointer, from, to });
      else found.replaced.push({ pointer, from: to, to: shown(pointer, at) });
    }
  }
  return found;
}
