import type { AuditEntry } from "../api/accounts";

/** What an action is called, and how it is told: what was done is put in the place of {}. */
interface Words {
  name: string;
  told: string;
}

/** Every action that has words of its own, as people look for them. */
export const actions: Readonly<Record<string, Words>> = {
  "session.created": { name: "Signed in", told: "signed in" },
  logIn: { name: "Right password, code awaited", told: "gave a right password, and was asked for a code" },
  "session.deleted": { name: "Signed out", told: "signed out" },
  "session.ended": { name: "Ended a session", told: "signed out another browser" },
  "session.others-ended": { name: "Ended all other sessions", told: "signed out everywhere else" },
  "password.changed": { name: "Changed the password", told: "changed their password" },
  "profile.changed": { name: "Changed the profile", told: "changed their name or address" },
  "second-factor.enrolled": { name: "Began a second factor", told: "began to set up a second factor" },
  "second-factor.enabled": { name: "Second factor on", told: "turned their second factor on" },
  "second-factor.removed": { name: "Second factor off", told: "turned their second factor off" },
  "passkey.added": { name: "Registered a passkey", told: "registered {}" },
  "passkey.renamed": { name: "Renamed a passkey", told: "renamed {}" },
  "passkey.removed": { name: "Removed a passkey", told: "removed {}" },
  "passkey.blocked": { name: "Blocked a passkey", told: "used {}, which is blocked now" },
  "identity.bound": { name: "First single sign-on", told: "signed in by single sign-on for the first time" },
  "user.created": { name: "Came by single sign-on", told: "came by single sign-on, for the first time" },
  setup: { name: "Set the installation up", told: "made the first account" },
  "invitation.created": { name: "Invited", told: "invited {}" },
  "invitation.accepted": { name: "Accepted an invitation", told: "accepted an invitation" },
  "invitation.revoked": { name: "Revoked an invitation", told: "revoked {}" },
  "user.role-changed": { name: "Changed a role", told: "changed the role of {}" },
  "user.removed": { name: "Removed a user", told: "removed {}" },
  "key.created": { name: "Made an API key", told: "made {}" },
  "key.revoked": { name: "Revoked an API key", told: "revoked {}" },
  "target.created": { name: "Added a target", told: "added {}" },
  "target.updated": { name: "Changed a target", told: "changed {}" },
  "target.deleted": { name: "Deleted a target", told: "deleted {}" },
  "heartbeat.rotated": { name: "New heartbeat address", told: "gave {} another address to ping" },
  "check.created": { name: "Tested an address", told: "tested an address" },
  "incident.acknowledged": { name: "Acknowledged an incident", told: "acknowledged {}" },
  "incident.noted": { name: "Wrote a note", told: "wrote a note on {}" },
  "maintenance-window.created": { name: "Planned maintenance", told: "planned {}" },
  "maintenance-window.removed": { name: "Ended maintenance", told: "removed or ended {}" },
  "channel.created": { name: "Added a channel", told: "added {}" },
  "channel.updated": { name: "Changed a channel", told: "changed {}" },
  "channel.deleted": { name: "Deleted a channel", told: "deleted {}" },
  "channel.tested": { name: "Tested a channel", told: "sent a test to {}" },
  "notification-rule.created": { name: "Added a notification rule", told: "added {}" },
  "notification-rule.updated": { name: "Changed a notification rule", told: "changed {}" },
  "notification-rule.deleted": { name: "Deleted a notification rule", told: "deleted {}" },
  "status-page.created": { name: "Made a status page", told: "made {}" },
  "status-page.updated": { name: "Changed a status page", told: "changed {}" },
  "status-page.deleted": { name: "Deleted a status page", told: "deleted {}" },
  "status-post.created": { name: "Wrote on a status page", told: "wrote {}" },
  "status-post.updated": { name: "Changed what a status page says", told: "changed {}" },
  "status-post.deleted": { name: "Deleted from a status page", told: "deleted {}" },
  "region.retired": { name: "Retired a region", told: "retired {}" },
  "prober.forgotten": { name: "Forgot a prober", told: "forgot {}" },
};

const kinds: Readonly<Record<string, string>> = {
  "maintenance-window": "maintenance",
  "notification-rule": "notification rule",
  "status-page": "status page",
  "status-post": "post of a status page",
  key: "API key",
};

/** What something is called: by its name if that is known, else by its kind and number. */
export function objectName(object: string, known: (object: string) => string | undefined): string {
  const name = known(object);
  if (name) return name;
  const at = object.indexOf(":");
  if (at < 0) return object;
  const kind = object.slice(0, at);
  return `${kinds[kind] ?? kind} ${object.slice(at + 1)}`;
}

/** Whether the detail of an action is the name of what it was done to. */
const detailNames = (action: string): boolean =>
  action === "user.removed" || /\.(created|updated|deleted)$/.test(action);

const unnamed = new Set(["session", "check"]);

/** What was done in words, split where the name of what it was done to stands, and what is left to say. */
export function tell(
  entry: Pick<AuditEntry, "action" | "object" | "detail">,
  known: (object: string) => string | undefined,
): { before: string; object: string | null; after: string; detail: string } {
  const words = actions[entry.action];
  const kind = entry.object.split(":")[0] ?? "";
  if (!words) {
    // What has no words of its own is the id of an operation, such as updateStatusPost, or noun.verb.
    const spaced = entry.action.replace(/[.-]/g, " ").replace(/([a-z])([A-Z])/g, "$1 $2");
    return { before: `did “${spaced.toLowerCase()}”`, object: entry.object || null, after: "", detail: entry.detail };
  }
  const [before = "", after] = words.told.split("{}");
  if (after === undefined || unnamed.has(kind)) return { before, object: null, after: "", detail: entry.detail };
  // What is gone, or has no page here, is known by what was written down of it.
  const written = known(entry.object) === undefined && detailNames(entry.action) ? entry.detail : "";
  const object = written.startsWith("as ") ? `somebody ${written}` : written || objectName(entry.object, known);
  const detail = written
    ? ""
    : entry.detail.startsWith(object)
      ? entry.detail.slice(object.length).trim()
      : entry.detail;
  return { before: before.trim(), object, after: after.trim(), detail };
}

/** Where what something was done to can be looked at. */
export function placeOf(
  object: string,
): { to: "/targets/$id" | "/incidents/$id" | "/settings/channels/$id"; id: string } | null {
  const found = /^(target|incident|channel):(\d+)$/.exec(object);
  if (!found?.[2]) return null;
  const to = { target: "/targets/$id", incident: "/incidents/$id", channel: "/settings/channels/$id" } as const;
  return { to: to[found[1] as keyof typeof to], id: found[2] };
}
