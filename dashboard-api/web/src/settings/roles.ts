import type { Role } from "../api/accounts";
import { t } from "../words/t";

export const roles: readonly Role[] = ["owner", "editor", "viewer"];

export const roleWords: Record<Role, string> = { owner: t("Owner"), editor: t("Editor"), viewer: t("Viewer") };

export const roleWhat: Record<Role, string> = {
  owner: t("Everything, also people, everybody's keys, regions and the audit log."),
  editor: t("Targets, incidents, maintenance, channels, rules and status pages."),
  viewer: t("Sees all of that, and changes nothing."),
};

const rank: Record<Role, number> = { viewer: 1, editor: 2, owner: 3 };

/** Whether a role may all that another may. */
export const reaches = (have: Role, needed: Role): boolean => rank[have] >= rank[needed];

/** Who somebody is, in one word or address. */
export const nameOf = (person: { name: string; email: string }): string => person.name || person.email;
