import { describe, expect, it } from "vitest";
import type { AlertRule, Channel } from "../api/alerts";
import { kinds, SECRET, settingsOf, valuesOf } from "./kinds";
import { describeRule, draftOf, emptyRule, termsOf } from "./rules";

const channel = {
  id: 1,
  name: "Mail",
  kind: "email",
  to: "a@example.com",
  enabled: true,
  readable: true,
  version: 1,
  created_at: "",
  updated_at: "",
  email: { host: "smtp.example.com", port: 2525, from: "p@example.com", to: ["a@example.com"], password: SECRET },
} satisfies Channel;

describe("settings of a channel", () => {
  it("never hold a stored secret, and keep it by its mark", () => {
    const { values, kept } = valuesOf(channel);
    expect(values.password).toBeUndefined();
    expect(kept.has("password")).toBe(true);
    expect(settingsOf("email", values, kept)).toEqual({ settings: channel.email, problems: {} });
  });
  it("replace a secret by what was typed, and leave out one that was removed", () => {
    const { values } = valuesOf(channel);
    expect(settingsOf("email", { ...values, password: "new one" }, new Set(["password"])).settings.password).toBe(
      "new one",
    );
    expect(settingsOf("email", values, new Set()).settings).not.toHaveProperty("password");
  });
  it("name each field that is needed", () => {
    expect(Object.keys(settingsOf("gotify", {}, new Set()).problems)).toEqual(["/gotify/server", "/gotify/token"]);
    expect(settingsOf("email", { ...valuesOf(channel).values, port: "x" }, new Set()).problems).toEqual({
      "/email/port": "Enter a whole number.",
    });
  });
  it("have a field each, once", () => {
    for (const { fields } of Object.values(kinds))
      expect(new Set(fields.map((field) => field.name)).size).toBe(fields.length);
  });
});

describe("a notification rule", () => {
  const rule: AlertRule = {
    id: 3,
    version: 1,
    created_at: "",
    updated_at: "",
    name: "Team",
    enabled: true,
    tags: ["web"],
    target_ids: [4],
    severities: ["down"],
    zone: "Europe/Berlin",
    schedule: [],
    quiet_hours: [{ days: ["sat"], from: "22:00", to: "07:00" }],
    quiet_lets_through: ["down"],
    digest_minutes: 0,
    channel_ids: [1],
    escalations: [{ after_minutes: 15, channel_ids: [2] }],
    reminder_minutes: 60,
    send_acknowledged: false,
    send_resolved: true,
  };
  it("goes into fields and back unchanged", () => {
    const { terms, problems } = termsOf(draftOf(rule));
    expect(problems).toEqual({});
    const { id: _, version: __, created_at: ___, updated_at: ____, enabled: _____, ...rest } = rule;
    expect(terms).toEqual(rest);
  });
  it("must tell somebody", () => {
    expect(Object.keys(termsOf(emptyRule("UTC")).problems).sort()).toEqual(["/channel_ids", "/name"]);
  });
  it("wants whole minutes", () => {
    const draft = { ...draftOf(rule), reminder: "1.5", steps: [{ key: 1, minutes: "", channels: [1] }] };
    expect(Object.keys(termsOf(draft).problems).sort()).toEqual(["/escalations", "/reminder_minutes"]);
  });
  it("is told in words", () => {
    expect(describeRule(rule, [{ id: 1, name: "Mail" }])).toBe(
      "Incidents that are down of 1 target and targets tagged web to Mail. Not acknowledged after 15 min: channel 2. Again every 60 min. Quiet sat 22:00–07:00 Europe/Berlin.",
    );
  });
});
