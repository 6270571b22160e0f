import { expect, test } from "vitest";
import type { HttpPart } from "../api/spec";
import { errorsOf } from "./form";
import { newRow } from "./headers";
import { requestOf as draftOf, type RequestDraft } from "./request";
import { isPlain as isPlainFold, termsBody, termsOf } from "./terms";

type Saved = Parameters<typeof termsOf>[0];
const requestOf = (saved: Saved) => draftOf(saved?.http ?? {});
const requestBody = (http: RequestDraft, saved: Saved) => termsBody({ ...termsOf(saved), http }, saved, ["http"]);
const isPlain = (http: RequestDraft) => isPlainFold({ ...termsOf(null), http }, "http", { tls: true, family: true });

const full: HttpPart = {
  method: "POST",
  headers: [
    { name: "X-Key", secret: "[secret]" },
    { name: "Accept", value: "text/plain" },
  ],
  body_secret: "[secret]",
  query_secret: "[secret]",
  username: "ann",
  password: "[secret]",
  redirects: 0,
  cookies: true,
  version: "2",
};
const target = { http: full, family: "6" as const };

test("what is not touched is not sent, and what is as by default is plain", () => {
  expect(requestBody(requestOf(null), null)).toEqual({ body: {}, errors: {} });
  expect(requestBody(requestOf(target), target)).toEqual({ body: {}, errors: {} });
  expect(isPlain(requestOf(null))).toBe(true);
  expect(isPlain(requestOf(target))).toBe(false);
});

test("stored secrets stay, and what the form does not show stays, too", () => {
  const more = { ...target, http: { ...full, later: "field" } as HttpPart };
  const draft = { ...requestOf(more), method: "put" };
  expect(JSON.stringify(draft)).not.toContain("[secret]");
  expect(requestBody(draft, more).body).toEqual({ http: { ...full, later: "field", method: "PUT" } });
});

test("a secret is replaced by what is typed, and goes with its row, its tick or its way to sign in", () => {
  const draft = requestOf(target);
  const [key, accept] = draft.headers;
  if (!key || !accept) throw new Error("two rows");
  const http = (change: Partial<typeof draft>) => requestBody({ ...draft, ...change }, target).body.http;
  expect(http({ headers: [{ ...key, value: "new" }, accept] })?.headers?.[0]).toEqual({ name: "X-Key", secret: "new" });
  expect(http({ headers: [accept] })?.headers).toEqual([{ name: "Accept", value: "text/plain" }]);
  expect(http({ password: "p2" })?.password).toBe("p2");
  expect(http({ bodySecret: false, body: "plain" })).toMatchObject({ body: "plain" });
  expect(http({ bodySecret: false, body: "plain" })).not.toHaveProperty("body_secret");
  expect(http({ query: "k=2" })?.query_secret).toBe("k=2");
  expect(http({ querySecret: false, query: "k=2" })).not.toHaveProperty("query_secret");
  const bearer = http({ sign: "bearer", token: "abc" });
  expect(bearer).toMatchObject({ token: "abc" });
  expect(bearer).not.toHaveProperty("password");
  expect(http({ sign: "none" })).not.toHaveProperty("username");
});

test("a request that is plain again goes as a whole; the family goes back to both", () => {
  expect(requestBody(requestOf(null), target).body).toEqual({ http: null });
  expect(termsBody(termsOf(null), target, ["http"]).body).toEqual({ http: null, family: null });
});

test("rows without a word are left out; a name and a new secret are asked for", () => {
  const draft = requestOf(null);
  const blank = newRow([]);
  const rows = [blank, { ...blank, key: 1, value: "v" }, { ...blank, key: 2, name: "X-Key", secret: true }];
  const { body, errors } = requestBody({ ...draft, headers: rows, sign: "bearer" }, null);
  expect(body.http?.headers).toHaveLength(2);
  expect(Object.keys(errors).sort()).toEqual(["/http/headers/0/name", "/http/headers/1/secret", "/http/token"]);
});

test("one of a name and a password is enough: a name may be empty", () => {
  const errors = (change: Partial<RequestDraft>) =>
    Object.keys(requestBody({ ...requestOf(null), sign: "basic", ...change }, null).errors);
  expect(errors({})).toEqual(["/http/username"]);
  expect(errors({ username: "ann" })).toEqual([]);
  expect(errors({ password: "key" })).toEqual([]);
});

test("what the server says of a request stands at its own pointer", () => {
  const say = (pointer: string) => ({ pointer, code: "x", message: "no" });
  const pointers = ["/http/headers/1/name", "/http/method", "/http", "/family"];
  const found = errorsOf({ type: "about:blank", title: "invalid", status: 422, errors: pointers.map(say) });
  expect(found).toEqual(Object.fromEntries(pointers.map((pointer) => [pointer, "No."])));
});
