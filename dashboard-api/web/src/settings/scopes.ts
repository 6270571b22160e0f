import type { ApiKey, Role, Scope } from "../api/accounts";
import { t } from "../words/t";

export const scopeWhat: Record<Scope, string> = {
  read: t("Read targets, results, incidents, reports and the fleet."),
  "targets:write": t("Add, change and delete targets, channels, rules and maintenance."),
  "incidents:write": t("Acknowledge incidents and write notes."),
  "results:write": t("Send in results that were measured elsewhere."),
  admin: t("Everything, also people, keys and regions."),
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
  key.scopes.length === 0
    ? t("{role, select, owner {all that an owner may} editor {all that an editor may} other {all that a viewer may}}", {
        role: key.role,
      })
    : key.scopes.join(", ");

export const isExpired = (key: Pick<ApiKey, "expires_at">, now: number): boolean =>
  key.expires_at !== null && Date.parse(key.expires_at) <= now;
