import { expect, test } from "vitest";
import type { Target } from "../api/types";
import { differences, rebased } from "./conflict";

const opened = {
  name: "Shop",
  url: "https://a/",
  interval_s: 60,
  timeout_ms: 5_000,
  regions: ["eu"],
  active: true,
  policy: {},
  expect: {},
  family: "",
  assertions: [],
  http: { method: "GET", headers: [{ name: "A", value: "1" }] },
  heartbeat: null,
  tags: ["prod"],
  parent_id: null,
  spec_version: 4,
} as unknown as Target;

test("over another version the fields that were changed here stay", () => {
  expect(
    rebased(
      { url: "https://a/", interval: "45", regions: ["eu"], name: "Mine" },
      { url: "https://a/", interval: "60", regions: ["eu"], name: "Shop" },
      { url: "https://b/", interval: "30", regions: ["eu", "us"], name: "Shop" },
    ),
  ).toEqual({ url: "https://b/", interval: "45", regions: ["eu", "us"], name: "Mine" });
});

test("what both changed would be replaced, what only they changed stays, what only I changed is no difference", () => {
  const now = { ...opened, spec_version: 5, interval_s: 30, tags: [], active: false };
  expect(differences(opened, now, { interval_s: 45, name: "Mine" })).toEqual({
    replaced: [{ pointer: "/interval_s", from: 30, to: 45 }],
    kept: [
      { pointer: "/active", from: true, to: false },
      { pointer: "/tags", from: ["prod"], to: [] },
    ],
  });
});

test("of a part that is saved whole, each field counts by itself", () => {
  const now = {
    ...opened,
    expect: { status: ["204"] },
    http: { method: "PUT", headers: [{ name: "B", value: "2" }], redirects: 3 },
  } as Target;
  const headers = [{ name: "C", value: "3" }];
  expect(differences(opened, now, { http: { method: "PUT", headers, redirects: 3 } })).toEqual({
    replaced: [{ pointer: "/http/headers", from: now.http?.headers, to: headers }],
    kept: [
      { pointer: "/expect/status", from: null, to: ["204"] },
      { pointer: "/http/method", from: "GET", to: "PUT" },
      { pointer: "/http/redirects", from: null, to: 3 },
    ],
  });
});

test("a secret that was typed is not among what is shown", () => {
  const now = { ...opened, http: { username: "ann", password: "[secret]" } } as Target;
  const body = { http: { username: "ann", password: "hunter2" } };
  expect(differences(opened, now, body).replaced).toEqual([
    { pointer: "/http/password", from: "[secret]", to: "[secret]" },
  ]);
  expect(JSON.stringify(differences(opened, now, body))).not.toContain("hunter2");
});

test("a part that is removed here is said field by field; the same change of both is none to replace", () => {
  const now = { ...opened, http: { ...opened.http, method: "PUT" }, parent_id: 7, family: "4" } as Target;
  expect(differences(opened, now, { http: null, parent_id: 7 })).toEqual({
    replaced: [{ pointer: "/http/method", from: "PUT", to: null }],
    kept: [
      { pointer: "/family", from: null, to: "4" },
      { pointer: "/parent_id", from: null, to: 7 },
    ],
  });
});
