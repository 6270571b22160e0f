import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { DnsPart, HttpPart, TcpPart, TlsPart, WebSocketPart } from "../api/spec";
import { errorsOf } from "./form";
import { foldsOf, isPlain, mayBeSecure, type Part, showsTls, type Terms, termsBody, termsOf, termsOver } from "./terms";

// Together they have every field of every part; some of http and tcp exclude each other.
const headers = [{ name: "X-Key", secret: "[secret]" }, { name: "Accept", value: "text/plain" }, { name: "X-Empty" }];
const samples: {
  http: HttpPart[];
  tcp: TcpPart[];
  tls: TlsPart[];
  dns: DnsPart[];
  websocket: WebSocketPart[];
} = {
  http: [
    {
      method: "POST",
      headers,
      body: '{"a":"b"}\r\n',
      username: "ann",
      password: "[secret]",
      redirects: 0,
      cookies: true,
      compressed: true,
      version: "2",
    },
    {
      method: "PURGE",
      body_secret: "[secret]",
      query_secret: "[secret]",
      token: "[secret]",
      redirects: 5,
      version: "best",
    },
    { password: "[secret]" },
  ],
  tcp: [
    { send: "EHLO me\r\nNOOP\n\ttab \\n is no line break\u0000\r", starttls: "smtp" },
    { send_secret: "[secret]", starttls: "imap" },
  ],
  tls: [{ server_name: "mail.example.com", skip_verify: true, post_quantum: true }],
  dns: [{ transport: "tcp" }, { transport: "tls" }, { transport: "https" }],
  websocket: [{ send: '{"op":"ping"}\r\n', headers, subprotocols: ["graphql-ws", "chat"] }],
};
const parts = Object.keys(samples) as Part[];
const each = parts.flatMap((part) => samples[part].map((sample) => [part, sample] as const));
const all = [...parts, "icmp", "grpc"] as const;

type Saved = Parameters<typeof termsOf>[0];
const savedWith = (part: Part, of: object) => ({ [part]: of }) as Saved;

/** The members of a document of the API, from its own source. */
function membersOf(part: string): string[] {
  const source = new TextDecoder().decode(
    readFileSync(new URL("../../../internal/httpapi/target_parts.go", import.meta.url).pathname),
  );
  const found = new RegExp(`type ${part}Part struct \\{\\n([^}]*)\\n\\}`, "i").exec(source)?.[1] ?? "";
  return [...found.matchAll(/json:"(\w+)/g)].map((one) => one[1] ?? "");
}

test("the samples have every field that the API has", () => {
  for (const part of parts) {
    const said = new Set(samples[part].flatMap((sample) => Object.keys(sample)));
    expect([part, ...said].sort()).toEqual([part, ...membersOf(part)].sort());
    expect(said.size).toBeGreaterThan(0);
  }
  expect([...new Set(headers.flatMap((one) => Object.keys(one)))].sort()).toEqual(membersOf("header").sort());
});

test.each(each)("%s: every field is in the form, and is what was loaded when it is saved anew: %j", (part, sample) => {
  expect(termsBody(termsOf(savedWith(part, sample)), null, all)).toEqual({ body: { [part]: sample }, errors: {} });
});

test.each(each)("%s: what is not touched is not sent; an edit beside it keeps the rest: %j", (part, sample) => {
  const saved = savedWith(part, { ...sample, later: "field" });
  const terms = termsOf(saved);
  expect(JSON.stringify(terms)).not.toContain("[secret]");
  expect(termsBody(terms, saved, all)).toEqual({ body: {}, errors: {} });
  const edits: { [P in Part]: [Partial<Terms[P]>, Record<string, unknown>] } = {
    http: [{ method: "put" }, { method: "PUT" }],
    tcp: [{ starttls: "ftp" }, { starttls: "ftp" }],
    tls: [{ serverName: " www.example.com " }, { server_name: "www.example.com" }],
    dns: [{ transport: "" }, { transport: undefined }], // is not said any more
    websocket: [{ subprotocols: "chat other" }, { subprotocols: ["chat", "other"] }],
  };
  const [change, changed] = edits[part];
  const edited = { ...terms, [part]: { ...terms[part], ...change } };
  expect(termsBody(edited, saved, all).body).toEqual({ [part]: { ...sample, later: "field", ...changed } });
});

test("the addresses that are visited, of every kind", () => {
  const six = termsOf({ family: "6" });
  expect(termsBody(six, null, ["icmp"]).body).toEqual({ family: "6" });
  expect(termsBody(six, { family: "6" }, ["http"]).body).toEqual({});
  expect(termsBody(termsOf(null), { family: "6" }, ["tcp"]).body).toEqual({ family: null });
});

test("a part that is as by default again is null; one that is not shown is not sent", () => {
  const saved = { tls: { skip_verify: true }, tcp: { starttls: "smtp" } } as const;
  const plain = termsOf(null);
  expect(termsBody(plain, saved, ["tcp", "tls"]).body).toEqual({ tcp: null, tls: null });
  expect(termsBody(plain, saved, ["http"]).body).toEqual({});
  expect(termsBody({ ...plain, tcp: { ...plain.tcp, send: "hi" } }, null, ["http", "tls"]).body).toEqual({});
});

test("a secret to send is replaced by what is typed, and goes with its tick", () => {
  const saved = { tcp: { send_secret: "[secret]", starttls: "imap" } } as const;
  const { tcp, ...rest } = termsOf(saved);
  const body = (change: Partial<typeof tcp>) => termsBody({ ...rest, tcp: { ...tcp, ...change } }, saved, ["tcp"]).body;
  expect(body({ send: "a LOGIN ann new\n" })).toEqual({
    tcp: { send_secret: "a LOGIN ann new\r\n", starttls: "imap" },
  });
  expect(body({ secret: false, send: "a NOOP\n" })).toEqual({ tcp: { send: "a NOOP\r\n", starttls: "imap" } });
  expect(body({ secret: false })).toEqual({ tcp: { starttls: "imap" } });
});

test("headers of a websocket are asked for as those of a request", () => {
  const terms = termsOf(null);
  const row = { key: 0, name: "", value: "v", secret: false, stored: false };
  const rows = [
    { ...row, value: "" },
    { ...row, key: 1 },
    { ...row, key: 2, name: "X", value: "", secret: true },
  ];
  const { errors } = termsBody({ ...terms, websocket: { ...terms.websocket, headers: rows } }, null, ["websocket"]);
  expect(Object.keys(errors)).toEqual(["/websocket/headers/0/name", "/websocket/headers/1/secret"]);
});

test("what is shown: the kind of the address, and what is stored of another until it is given up", () => {
  expect(foldsOf("tcp", null)).toEqual(["tcp"]);
  expect(foldsOf("http", { http: null, tcp: { send: "x" } })).toEqual(["http", "tcp"]);
  expect(foldsOf("http", { http: { method: "PUT" } })).toEqual(["http"]);
  expect(foldsOf(null, null)).toEqual([]);
  expect(foldsOf("heartbeat", null)).toEqual([]);
});

test("TLS is shown where a visit may come to it, and where it is stored", () => {
  const plain = termsOf(null);
  const may = (url: string, kind: Parameters<typeof mayBeSecure>[0], terms = plain) => mayBeSecure(kind, url, terms);
  expect([
    may("http://a", "http"),
    may("tls://a", "tls"),
    may("grpcs://a:1", "grpc"),
    may(" WSS://a", "websocket"),
  ]).toEqual([true, true, true, true]);
  expect([
    may("tcp://a:1", "tcp"),
    may("dns:///a", "dns"),
    may("grpc://a:1", "grpc"),
    may("ws://a", "websocket"),
    may("icmp://a", "icmp"),
    may("x", null),
  ]).toEqual([false, false, false, false, false, false]);
  expect(may("tcp://a:1", "tcp", termsOf({ tcp: { starttls: "ftp" } }))).toBe(true);
  expect(may("dns:///a", "dns", termsOf({ dns: { transport: "tls" } }))).toBe(true);
  expect(may("dns:///a", "dns", termsOf({ dns: { transport: "tcp" } }))).toBe(false);
  expect(showsTls("tcp", "tcp://a:1", plain, { tls: { skip_verify: true } })).toBe(true);
  expect(showsTls("tcp", "tcp://a:1", plain, { tls: null })).toBe(false);
});

test("a fold is open at first when something in it is not as by default", () => {
  const whole = { tls: true, family: true };
  expect(isPlain(termsOf(null), "tcp", whole)).toBe(true);
  expect(isPlain(termsOf({ http: { method: "PUT" } }), "tcp", whole)).toBe(true);
  expect(isPlain(termsOf({ http: { method: "PUT" } }), "http", whole)).toBe(false);
  expect(isPlain(termsOf({ tls: { skip_verify: true } }), "tls", whole)).toBe(false);
  expect(isPlain(termsOf({ tls: { skip_verify: true } }), "icmp", { tls: false, family: true })).toBe(true);
  expect(isPlain(termsOf({ family: "4" }), "icmp", whole)).toBe(false);
});

test("over another version what was changed here stays, in every part", () => {
  const before = termsOf({ tcp: { send: "a" }, family: "4" });
  const now = termsOf({ tcp: { send: "b", starttls: "smtp" }, tls: { server_name: "a.example" }, family: "6" });
  const mine = { ...before, tls: { ...before.tls, skipVerify: true }, tcp: { ...before.tcp, send: "c" } };
  expect(termsOver(mine, before, now)).toMatchObject({
    tcp: { send: "c", starttls: "smtp" },
    tls: { serverName: "a.example", skipVerify: true },
    family: "6",
  });
  expect(termsOver({ ...mine, family: "" }, before, now).family).toBe("");
});

test("what the server says of a part stands at its own pointer", () => {
  const say = (pointer: string) => ({ pointer, code: "x", message: "no" });
  const pointers = [
    ...parts.map((part) => `/${part}`),
    ...parts.flatMap((part) => membersOf(part).map((name) => `/${part}/${name}`)),
    "/websocket/headers/1/name",
    "/websocket/subprotocols/0",
    "/family",
    "/policy/quorum/count",
  ];
  const found = errorsOf({ type: "about:blank", title: "invalid", status: 422, errors: pointers.map(say) });
  expect(found).toEqual(Object.fromEntries(pointers.map((pointer) => [pointer, "No."])));
});
