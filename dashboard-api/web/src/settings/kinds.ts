import type { Channel, ChannelKind, ChannelSettings } from "../api/alerts";

export const SECRET = "[secret]";

export interface SettingField {
  name: string;
  label: string;
  /** secret: never shown again; list: one a line. */
  type: "text" | "secret" | "number" | "choice" | "list";
  needed?: boolean;
  hint?: string;
  placeholder?: string;
  options?: [string, string][];
}

const regions: [string, string][] = [
  ["", "United States"],
  ["eu", "European Union"],
];

/** The settings of each kind, as the API takes them. */
export const kinds: Record<ChannelKind, { label: string; fields: SettingField[] }> = {
  email: {
    label: "E-mail",
    fields: [
      { name: "host", label: "Mail server", type: "text", needed: true, placeholder: "smtp.example.com" },
      {
        name: "security",
        label: "Security",
        type: "choice",
        options: [
          ["", "STARTTLS, insisted on"],
          ["tls", "TLS from the start"],
          ["none", "None"],
        ],
      },
      { name: "port", label: "Port", type: "number", hint: "Empty: 587; 465 with TLS, 25 with none." },
      { name: "username", label: "User name", type: "text" },
      { name: "password", label: "Password", type: "secret" },
      { name: "from", label: "From", type: "text", needed: true, placeholder: "probefleet@example.com" },
      { name: "to", label: "To", type: "list", needed: true, hint: "One address a line, at most 20." },
    ],
  },
  slack: {
    label: "Slack",
    fields: [
      {
        name: "url",
        label: "Incoming webhook",
        type: "secret",
        needed: true,
        placeholder: "https://hooks.slack.com/services/…",
      },
    ],
  },
  webhook: {
    label: "Webhook",
    fields: [
      {
        name: "url",
        label: "Address",
        type: "secret",
        needed: true,
        hint: "It may hold a token, and is not shown again.",
      },
      {
        name: "secret",
        label: "Signing key",
        type: "secret",
        needed: true,
        hint: "X-Probefleet-Signature is made with it, so that the receiver knows who sends.",
      },
      { name: "authorization", label: "Authorization header", type: "secret", hint: "Such as Bearer and a token." },
    ],
  },
  discord: {
    label: "Discord",
    fields: [
      {
        name: "url",
        label: "Webhook",
        type: "secret",
        needed: true,
        placeholder: "https://discord.com/api/webhooks/…",
      },
    ],
  },
  teams: {
    label: "Microsoft Teams",
    fields: [
      {
        name: "url",
        label: "Workflow address",
        type: "secret",
        needed: true,
        hint: "Of the workflow “When a Teams webhook request is received”.",
      },
    ],
  },
  telegram: {
    label: "Telegram",
    fields: [
      { name: "token", label: "Bot token", type: "secret", needed: true },
      { name: "chat_id", label: "Chat", type: "text", needed: true, hint: "A number, or @channel." },
      { name: "thread_id", label: "Topic", type: "number", hint: "In a group that has some." },
    ],
  },
  pagerduty: {
    label: "PagerDuty",
    fields: [
      { name: "routing_key", label: "Integration key", type: "secret", needed: true, hint: "32 characters." },
      { name: "region", label: "Account in", type: "choice", options: regions },
    ],
  },
  opsgenie: {
    label: "Opsgenie",
    fields: [
      { name: "key", label: "API key of the integration", type: "secret", needed: true },
      { name: "region", label: "Account in", type: "choice", options: regions },
    ],
  },
  ntfy: {
    label: "ntfy",
    fields: [
      {
        name: "topic",
        label: "Topic",
        type: "text",
        needed: true,
        hint: "Who knows it can read along, without a token.",
      },
      { name: "server", label: "Server", type: "text", placeholder: "https://ntfy.sh" },
      { name: "token", label: "Access token", type: "secret" },
    ],
  },
  gotify: {
    label: "Gotify",
    fields: [
      { name: "server", label: "Server", type: "text", needed: true, placeholder: "https://gotify.example.com" },
      { name: "token", label: "Application token", type: "secret", needed: true },
    ],
  },
  pushover: {
    label: "Pushover",
    fields: [
      { name: "token", label: "Application token", type: "secret", needed: true },
      { name: "user", label: "User or group key", type: "secret", needed: true },
    ],
  },
  shoutrrr: {
    label: "Another service (shoutrrr)",
    fields: [
      {
        name: "url",
        label: "Address of the service",
        type: "secret",
        needed: true,
        hint: "As shoutrrr writes it, such as matrix://user:password@host/?rooms=!id:host. There are bark, googlechat, ifttt, join, lark, matrix, notifiarr, pushbullet, rocketchat, signal, wecom and zulip.",
      },
    ],
  },
};

export const kindNames = Object.keys(kinds) as ChannelKind[];
export const kindLabel = (kind: string): string => kinds[kind as ChannelKind]?.label ?? kind;

/** What the fields hold: text, as typed. */
export type Values = Record<string, string>;

/** A stored secret is an empty field; what it says instead of it is in `kept`. */
export function valuesOf(channel: Channel): { values: Values; kept: ReadonlySet<string> } {
  const stored = channel[channel.kind] ?? {};
  const values: Values = {};
  const kept = new Set<string>();
  for (const field of kinds[channel.kind]?.fields ?? []) {
    const value = stored[field.name];
    if (field.type === "secret") {
      if (value) kept.add(field.name);
    } else if (Array.isArray(value)) values[field.name] = value.join("\n");
    else if (value !== undefined && value !== 0) values[field.name] = String(value);
  }
  return { values, kept };
}

/** The settings to send; a secret that was left alone is kept by its mark, one in `cleared` goes. */
export function settingsOf(
  kind: ChannelKind,
  values: Values,
  kept: ReadonlySet<string>,
): { settings: ChannelSettings; problems: Record<string, string> } {
  const settings: ChannelSettings = {};
  const problems: Record<string, string> = {};
  for (const field of kinds[kind].fields) {
    const text = (values[field.name] ?? "").trim();
    if (text === "") {
      if (field.type === "secret" && kept.has(field.name)) settings[field.name] = SECRET;
      else if (field.needed) problems[`/${kind}/${field.name}`] = "This is needed.";
    } else if (field.type === "number") {
      if (/^\d+$/.test(text)) settings[field.name] = Number(text);
      else problems[`/${kind}/${field.name}`] = "Enter a whole number.";
    } else if (field.type === "list") {
      settings[field.name] = text.split(/[\s,;]+/).filter(Boolean);
    } else settings[field.name] = text;
  }
  return { settings, problems };
}

export const pointersOf = (kind: ChannelKind): string[] => [
  "/name",
  "/kind",
  ...kinds[kind].fields.map((field) => `/${kind}/${field.name}`),
];
