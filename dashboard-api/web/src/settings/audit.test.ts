import { describe, expect, it } from "vitest";
import { actions, objectName, placeOf, tell } from "./auditWords";

const known = (object: string) => ({ "target:1": "Shop", "user:2": "Bob" })[object];
const told = (action: string, object: string, detail = "") => {
  const { before, object: name, after } = tell({ action, object, detail }, known);
  return [before, name, after].filter(Boolean).join(" ");
};

describe("an entry of the audit log", () => {
  it("is told in words, with the name of what it was about", () => {
    expect(told("target.updated", "target:1")).toBe("changed Shop");
    expect(told("user.role-changed", "user:2", "viewer")).toBe("changed the role of Bob");
    expect(told("heartbeat.rotated", "target:1")).toBe("gave Shop another address to ping");
    expect(told("session.created", "user:2")).toBe("signed in");
    expect(told("session.ended", "session:9")).toBe("signed out another browser");
  });
  it("names what is gone by kind and number", () => {
    expect(told("target.deleted", "target:7")).toBe("deleted target 7");
    expect(told("notification-rule.deleted", "notification-rule:3")).toBe("deleted notification rule 3");
    expect(objectName("prober:eu/a-1", known)).toBe("prober eu/a-1");
  });
  it("names what is gone as it was called then", () => {
    expect(told("user.removed", "user:9", "cy@example.com")).toBe("removed cy@example.com");
    expect(told("target.deleted", "target:7", "Old shop")).toBe("deleted Old shop");
    expect(told("maintenance-window.updated", "maintenance-window:3", "Move")).toBe("changed Move");
    expect(told("maintenance-window.removed", "maintenance-window:3", "Move")).toBe("removed or ended Move");
    expect(told("key.revoked", "key:9", "deploy")).toBe("revoked deploy");
    expect(told("invitation.revoked", "invitation:1", "cy@example.com as viewer")).toBe(
      "revoked cy@example.com as viewer",
    );
    expect(told("invitation.created", "invitation:1", "as editor")).toBe("invited somebody as editor");
    expect(tell({ action: "target.updated", object: "target:1", detail: "Shop" }, known).object).toBe("Shop");
    const made = tell({ action: "key.created", object: "key:1", detail: "ci as editor read" }, () => "ci");
    expect([made.object, made.detail]).toEqual(["ci", "as editor read"]);
  });
  it("says what it has no words for as it is", () => {
    expect(told("updateStatusPost", "status-pages/1/posts/2/updates")).toBe(
      "did “update status post” status-pages/1/posts/2/updates",
    );
  });
  it("leads to what can be looked at", () => {
    expect(placeOf("target:7")).toEqual({ to: "/targets/$id", id: "7" });
    expect(placeOf("region:eu")).toBeNull();
  });
  it("has a name for the filter wherever it has words", () => {
    for (const { name, told } of Object.values(actions)) {
      expect(name).toMatch(/^[A-Z]/);
      expect(told.split("{}").length).toBeLessThanOrEqual(2);
    }
  });
});

const catalogues = Object.entries(
  import.meta.glob<Record<string, string>>("../words/catalogues/*.json", { import: "default", eager: true }),
);
it.each(catalogues)("%s says who did it before what it was done to", (_, words) => {
  for (const { told } of Object.values(actions))
    expect(words[told] ?? told).toMatch(/^[^{]*\{actor\}[^{]*(\{object\}[^{]*)?$/);
});
