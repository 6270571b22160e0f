import type { AuditEntry } from "../api/accounts";
import { t } from "../words/t";

/** What an action is called, and how it is told: {actor} stands before {object}, if there is any. */
interface Words {
  name: string;
  told: string;
}

/** Every action that has words of its own, as people look for them. */
export const actions: Readonly<Record<string, Words>> = {
  "session.created": { name: t("Signed in"), told: t("{actor} signed in") },
  logIn: {
    name: t("Right password, code awaited"),
    told: t("{actor} gave a right password, and was asked for a code"),
  },
  "session.deleted": { name: t("Signed out"), told: t("{actor} signed out") },
  "session.ended": { name: t("Ended a session"), told: t("{actor} signed out another browser") },
  "session.others-ended": { name: t("Ended all other sessions"), told: t("{actor} signed out everywhere else") },
  "password.changed": { name: t("Changed the password"), told: t("{actor} changed their password") },
  "profile.changed": { name: t("Changed the profile"), told: t("{actor} changed their name or address") },
  "second-factor.enrolled": { name: t("Began a second factor"), told: t("{actor} began to set up a second factor") },
  "second-factor.enabled": { name: t("Second factor on"), told: t("{actor} turned their second factor on") },
  "second-factor.removed": { name: t("Second factor off"), told: t("{actor} turned their second factor off") },
  "passkey.added": { name: t("Registered a passkey"), told: t("{actor} registered {object}") },
  "passkey.renamed": { name: t("Renamed a passkey"), told: t("{actor} renamed {object}") },
  "passkey.removed": { name: t("Removed a passkey"), told: t("{actor} removed {object}") },
  "passkey.blocked": { name: t("Blocked a passkey"), told: t("{actor} used {object}, which is blocked now") },
  "identity.bound": {
    name: t("First single sign-on"),
    told: t("{actor} signed in by single sign-on for the first time"),
  },
  "user.created": { name: t("Came by single sign-on"), told: t("{actor} came by single sign-on, for the first time") },
  setup: { name: t("Set the installation up"), told: t("{actor} made the first account") },
  "invitation.created": { name: t("Invited"), told: t("{actor} invited {object}") },
  "invitation.accepted": { name: t("Accepted an invitation"), told: t("{actor} accepted an invitation") },
  "invitation.revoked": { name: t("Revoked an invitation"), told: t("{actor} revoked {object}") },
  "user.role-changed": { name: t("Changed a role"), told: t("{actor} changed the role of {object}") },
  "user.disabled": { name: t("Disabled a user"), told: t("{actor} disabled {object}") },
  "user.enabled": { name: t("Enabled a user"), told: t("{actor} enabled {object}") },
  "user.removed": { name: t("Removed a user"), told: t("{actor} removed {object}") },
  "key.created": { name: t("Made an API key"), told: t("{actor} made {object}") },
  "key.revoked": { name: t("Revoked an API key"), told: t("{actor} revoked {object}") },
  "target.created": { name: t("Added a target"), told: t("{actor} added {object}") },
  "target.updated": { name: t("Changed a target"), told: t("{actor} changed {object}") },
  "target.deleted": { name: t("Deleted a target"), told: t("{actor} deleted {object}") },
  "heartbeat.rotated": { name: t("New heartbeat address"), told: t("{actor} gave {object} another address to ping") },
  "check.created": { name: t("Tested an address"), told: t("{actor} tested an address") },
  "incident.acknowledged": { name: t("Acknowledged an incident"), told: t("{actor} acknowledged {object}") },
  "incident.noted": { name: t("Wrote a note"), told: t("{actor} wrote a note on {object}") },
  "maintenance-window.created": { name: t("Planned maintenance"), told: t("{actor} planned {object}") },
  "maintenance-window.updated": { name: t("Changed maintenance"), told: t("{actor} changed {object}") },
  "maintenance-window.removed": { name: t("Ended maintenance"), told: t("{actor} removed or ended {object}") },
  "channel.created": { name: t("Added a channel"), told: t("{actor} added {object}") },
  "channel.updated": { name: t("Changed a channel"), told: t("{actor} changed {object}") },
  "channel.deleted": { name: t("Deleted a channel"), told: t("{actor} deleted {object}") },
  "channel.tested": { name: t("Tested a channel"), told: t("{actor} sent a test to {object}") },
  "notification-rule.created": { name: t("Added a notification rule"), told: t("{actor} added {object}") },
  "notification-rule.updated": { name: t("Changed a notification rule"), told: t("{actor} changed {object}") },
  "notification-rule.deleted": { name: t("Deleted a notification rule"), told: t("{actor} deleted {object}") },
  "status-page.created": { name: t("Made a status page"), told: t("{actor} made {object}") },
  "status-page.updated": { name: t("Changed a status page"), told: t("{actor} changed {object}") },
  "status-page.deleted": { name: t("Deleted a status page"), told: t("{actor} deleted {object}") },
  "status-post.created": { name: t("Wrote on a status page"), told: t("{actor} wrote {object}") },
  "status-post.updated": { name: t("Changed what a status page says"), told: t("{actor} changed {object}") },
  "status-post.deleted": { name: t("Deleted from a status page"), told: t("{actor} deleted {object}") },
  "region.retired": { name: t("Retired a region"), told: t("{actor} retired {object}") },
  "dead-letter.replayed": { name: t("Replayed dead letters"), told: t("{actor} asked for a replay of {object}") },
  "prober.drained": { name: t("Drained a prober"), told: t("{actor} has {object} drained") },
  "prober.resumed": { name: t("Resumed a prober"), told: t("{actor} resumed {object}") },
  "prober.forgotten": { name: t("Forgot a prober"), told: t("{actor} forgot {object}") },
};

/** What has no name of its own, by its kind. */
const kinds: Readonly<Record<string, (id: string) => string>> = {
  channel: (id) => t("channel {id}", { id }),
  check: (id) => t("check {id}", { id }),
  "dead-letter": (id) => t("dead letter {id}", { id }),
  incident: (id) => t("incident {id}", { id }),
  invitation: (id) => t("invitation {id}", { id }),
  key: (id) => t("API key {id}", { id }),
  "maintenance-window": (id) => t("maintenance {id}", { id }),
  "notification-rule": (id) => t("notification rule {id}", { id }),
  passkey: (id) => t("passkey {id}", { id }),
  prober: (id) => t("prober {id}", { id }),
  region: (id) => t("region {id}", { id }),
  session: (id) => t("session {id}", { id }),
  "status-page": (id) => t("status page {id}", { id }),
  "status-post": (id) => t("post of a status page {id}", { id }),
  target: (id) => t("target {id}", { id }),
  user: (id) => t("user {id}", { id }),
};

/** What something is called: by its name if that is known, else by its kind and number. */
export function objectName(object: string, known: (object: string) => string | undefined): string {
  const name = known(object);
  if (name) return name;
  const at = object.indexOf(":");
  if (at < 0) return object;
  const kind = object.slice(0, at);
  const id = object.slice(at + 1);
  return kinds[kind]?.(id) ?? `${kind} ${id}`;
}

/** Whether the detail of an action is the name of what it was done to. */
const detailNames = (action: string): boolean =>
  /\.(created|updated|deleted|removed|revoked|disabled|enabled)$/.test(action);

/** Who was invited as what, as the log has it. */
const invited = (as: string): string =>
  t(
    "{role, select, owner {somebody as owner} editor {somebody as editor} viewer {somebody as viewer} other {somebody {as}}}",
    { role: as.slice("as ".length), as },
  );

interface Told {
  lead: string;
  before: string;
  object: string | null;
  after: string;
  detail: string;
}

/** What was done in words, split where the names of who did it and of what it was done to stand, and what is left to say. */
export function tell(
  entry: Pick<AuditEntry, "action" | "object" | "detail">,
  known: (object: string) => string | undefined,
): Told {
  const words = actions[entry.action];
  if (!words) {
    // What has no words of its own is the id of an operation, such as updateStatusPost, or noun.verb.
    const spaced = entry.action.replace(/[.-]/g, " ").replace(/([a-z])([A-Z])/g, "$1 $2");
    const told = split(entry.object ? t("{actor} did “{action}” {object}") : t("{actor} did “{action}”"));
    const named = (text: string) => text.replace("{action}", () => spaced.toLowerCase());
    return {
      lead: named(told.lead),
      before: named(told.before),
      object: entry.object || null,
      after: named(told.after),
      detail: entry.detail,
    };
  }
  const told = split(words.told);
  if (!words.told.includes("{object}")) return { ...told, object: null, detail: entry.detail };
  // What is gone, or has no page here, is known by what was written down of it.
  const written = known(entry.object) === undefined && detailNames(entry.action) ? entry.detail : "";
  const object = written.startsWith("as ") ? invited(written) : written || objectName(entry.object, known);
  const detail = written
    ? ""
    : entry.detail.startsWith(object)
      ? entry.detail.slice(object.length).trim()
      : entry.detail;
  return { ...told, object, detail };
}

function split(told: string): { lead: string; before: string; after: string } {
  const [lead = "", rest = ""] = told.split("{actor}");
  const [before = "", after = ""] = rest.split("{object}");
  return { lead: lead.trim(), before: before.trim(), after: after.trim() };
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
