import type { Channel, ChannelKind, ChannelSettings } from "../api/alerts";
import { locale, t } from "../words/t";

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
  ["", t("United States")],
  ["eu", t("European Union")],
];

/** Those of shoutrrr that have no kind of their own here. */
const services = [
  "bark",
  "googlechat",
  "ifttt",
  "join",
  "lark",
  "matrix",
  "notifiarr",
  "pushbullet",
  "rocketchat",
  "signal",
  "wecom",
  "zulip",
];

/** The settings of each kind, as the API takes them. */
export const kinds: Record<ChannelKind, { label: string; fields: SettingField[] }> = {
  email: {
    label: t("E-mail"),
    fields: [
      { name: "host", label: t("Mail server"), type: "text", needed: true, placeholder: "smtp.example.com" },
      {
        name: "security",
        label: t("Security"),
        type: "choice",
        options: [
          ["", t("STARTTLS, insisted on")],
          ["tls", t("TLS from the start")],
          ["none", t("None")],
        ],
      },
      { name: "port", label: t("Port"), type: "number", hint: t("Empty: 587; 465 with TLS, 25 with none.") },
      { name: "username", label: t("User name"), type: "text" },
      { name: "password", label: t("Password"), type: "secret" },
      { name: "from", label: t("From"), type: "text", needed: true, placeholder: "probefleet@example.com" },
      { name: "to", label: t("To"), type: "list", needed: true, hint: t("One address a line, at most 20.") },
    ],
  },
  slack: {
    label: "Slack",
    fields: [
      {
        name: "url",
        label: t("Incoming webhook"),
        type: "secret",
        needed: true,
        placeholder: "https://hooks.slack.com/services/…",
      },
    ],
  },
  webhook: {
    label: t("Webhook"),
    fields: [
      {
        name: "url",
        label: t("Address"),
        type: "secret",
        needed: true,
        hint: t("It may hold a token, and is not shown again."),
      },
      {
        name: "secret",
        label: t("Signing key"),
        type: "secret",
        needed: true,
        hint: t("{header} is made with it, so that the receiver knows who sends.", {
          header: "X-Probefleet-Signature",
        }),
      },
      {
        name: "authorization",
        label: t("Authorization header"),
        type: "secret",
        hint: t("Such as Bearer and a token."),
      },
    ],
  },
  discord: {
    label: "Discord",
    fields: [
      {
        name: "url",
        label: t("Webhook"),
        type: "secret",
        needed: true,
        placeholder: "https://discord.com/api/webhooks/…",
      },
    ],
  },
  teams: {
    label: t("Microsoft Teams"),
    fields: [
      {
        name: "url",
        label: t("Workflow address"),
        type: "secret",
        needed: true,
        hint: t("Of the workflow “When a Teams webhook request is received”."),
      },
    ],
  },
  telegram: {
    label: "Telegram",
    fields: [
      { name: "token", label: t("Bot token"), type: "secret", needed: true },
      { name: "chat_id", label: t("Chat"), type: "text", needed: true, hint: t("A number, or @channel.") },
      { name: "thread_id", label: t("Topic"), type: "number", hint: t("In a group that has some.") },
    ],
  },
  pagerduty: {
    label: "PagerDuty",
    fields: [
      { name: "routing_key", label: t("Integration key"), type: "secret", needed: true, hint: t("32 characters.") },
      { name: "region", label: t("Account in"), type: "choice", options: regions },
    ],
  },
  opsgenie: {
    label: "Opsgenie",
    fields: [
      { name: "key", label: t("API key of the integration"), type: "secret", needed: true },
      { name: "region", label: t("Account in"), type: "choice", options: regions },
    ],
  },
  ntfy: {
    label: "ntfy",
    fields: [
      {
        name: "topic",
        label: t("Topic"),
        type: "text",
        needed: true,
        hint: t("Who knows it can read along, without a token."),
      },
      { name: "server", label: t("Server"), type: "text", placeholder: "https://ntfy.sh" },
      { name: "token", label: t("Access token"), type: "secret" },
    ],
  },
  gotify: {
    label: "Gotify",
    fields: [
      { name: "server", label: t("Server"), type: "text", needed: true, placeholder: "https://gotify.example.com" },
      { name: "token", label: t("Application token"), type: "secret", needed: true },
    ],
  },
  pushover: {
    label: "Pushover",
    fields: [
      { name: "token", label: t("Application token"), type: "secret", needed: true },
      { name: "user", label: t("User or group key"), type: "secret", needed: true },
    ],
  },
  shoutrrr: {
    label: t("Another service (shoutrrr)"),
    fields: [
      {
        name: "url",
        label: t("Address of the service"),
        type: "secret",
        needed: true,
        hint: t("As shoutrrr writes it, such as {example}. There are {services}.", {
          example: "matrix://user:password@host/?rooms=!id:host",
          services: new Intl.ListFormat(locale()).format(services),
        }),
      },
    ],
  },
};

export const kindNames = Object.keys(kinds) as ChannelKind[];
export const kindLabel = (kind: string): string => kinds[kind as ChannelKind]?.label ?? kind;

/** What a channel is, and where it leads. */
export const channelLine = ({ kind, to }: Pick<Channel, "kind" | "to">): string =>
  to ? t("{kind}, {to}", { kind: kindLabel(kind), to }) : kindLabel(kind);

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
      else if (field.needed) problems[`/${kind}/${field.name}`] = t("This is needed.");
    } else if (field.type === "number") {
      if (/^\d+$/.test(text)) settings[field.name] = Number(text);
      else problems[`/${kind}/${field.name}`] = t("Enter a whole number.");
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
