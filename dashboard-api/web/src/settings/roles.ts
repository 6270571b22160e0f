import type { Role } from "../api/accounts";

export const roles: readonly Role[] = ["owner", "editor", "viewer"];

export const roleWords: Record<Role, string> = { owner: "Owner", editor: "Editor", viewer: "Viewer" };

export const roleWhat: Record<Role, string> = {
  owner: "Everything, also people, everybody's keys, regions and the audit log.",
  editor: "Targets, incidents, maintenance, channels, rules and status pages.",
  viewer: "Sees all of that, and changes nothing.",
};

const rank: Record<Role, number> = { viewer: 1, editor: 2, owner: 3 };

/** Whether a role may all that another may. */
export const reaches = (have: Role, needed: Role): boolean => rank[have] >= rank[needed];

/** "a viewer", "an editor". */
export const aRole = (role: Role): string => `${role === "viewer" ? "a" : "an"} ${role}`;

/** Who somebody is, in one word or address. */
export const nameOf = (person: { name: string; email: string }): string => person.name || person.email;
