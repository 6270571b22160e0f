import type { ApiKey, Role, Scope } from "../api/accounts";
import { aRole } from "./roles";

export const scopeWhat: Record<Scope, string> = {
  read: "Read targets, results, incidents, reports and the fleet.",
  "targets:write": "Add, change and delete targets, channels, rules and maintenance.",
  "incidents:write": "Acknowledge incidents and write notes.",
  "results:write": "Send in results that were measured elsewhere.",
  admin: "Everything, also people, keys and regions.",
};

/** The least role that can hand a scope out. */
export const scopeRole: Record<Scope, Role> = {
  read: "viewer",
  "targets:write": "editor",
  "incidents:write": "editor",
  "results:write": "editor",
  admin: "owner",
};

/** What a key may, in a line. */
export const keyMay = (key: Pick<ApiKey, "role" | "scopes">): string =>
  key.scopes.length === 0 ? `all that ${aRole(key.role)} may` : key.scopes.join(", ");

export const isExpired = (key: Pick<ApiKey, "expires_at">, now: number): boolean =>
  key.expires_at !== null && Date.parse(key.expires_at) <= now;
