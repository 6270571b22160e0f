import { expect, test } from "vitest";
import type { Problem, Target } from "../api/types";
import { completeUrl, draftOf, emptyDraft, errorsOf, hasStatus, toBody } from "./form";

test("an address without a scheme gets https, any scheme is left to the server", () => {
  expect(completeUrl(" example.com/a ")).toBe("https://example.com/a");
  expect(completeUrl("example.com:8443/a")).toBe("https://example.com:8443/a");
  expect(completeUrl("http://example.com")).toBe("http://example.com");
  expect(completeUrl("ftp://example.com")).toBe("ftp://example.com");
  expect(completeUrl("javascript:alert(1)")).toBe("javascript:alert(1)");
  expect(completeUrl("")).toBe("");
});

test("addresses of other kinds are taken as they are, and have no status codes", () => {
  for (const url of [
    "tcp://mail.example.com:25",
    "dns:///example.com?type=MX",
    "icmp://example.com",
    "wss://example.com/live",
  ]) {
    expect(toBody({ ...emptyDraft, url }, null)).toMatchObject({ ok: true, body: { url } });
    expect(hasStatus(url)).toBe(false);
  }
  for (const url of ["", "example.com", "example.com:8443/a", "HTTP://example.com"]) expect(hasStatus(url)).toBe(true);
  const target = {
    url: "tls://a",
    name: "A",
    interval_s: 60,
    timeout_ms: 5000,
    regions: [] as string[],
    expect: { status: [] as string[] },
  };
  const before = draftOf(target as unknown as Target);
  expect(toBody({ ...before, name: "B" }, before)).toEqual({ ok: true, body: { name: "B" } });
});

test("what a resume asks too much of is said on the form", () => {
  const errors = [
    { pointer: "/active", code: "host_rate_exceeded", message: "this host would get 5.1 requests a second" },
  ];
  const problem = { type: "about:blank", title: "invalid", status: 422, errors };
  expect(errorsOf(problem)).toEqual({ form: "This host would get 5.1 requests a second." });
});

test("a new target needs only its address", () => {
  expect(toBody({ ...emptyDraft, interval: "", url: "example.com" }, null)).toEqual({
    ok: true,
    body: { url: "https://example.com" },
  });
  expect(toBody(emptyDraft, null)).toMatchObject({ ok: false, errors: { url: expect.any(String) } });
});

test("fields become the body in the API's units", () => {
  const draft = {
    url: "http://a",
    name: " A ",
    interval: "10",
    timeout: "2.5",
    regions: ["eu"],
    status: "200, 301-302",
  };
  expect(toBody(draft, null)).toEqual({
    ok: true,
    body: {
      url: "http://a",
      name: "A",
      interval_s: 10,
      timeout_ms: 2500,
      regions: ["eu"],
      expect: { status: ["200", "301-302"] },
    },
  });
  expect(toBody({ ...draft, interval: "1.5", timeout: "x" }, null)).toMatchObject({
    errors: { interval: expect.any(String), timeout: expect.any(String) },
  });
});

test("an edit sends only what changed, and can empty a list", () => {
  const target = {
    url: "https://a/",
    name: "A",
    interval_s: 60,
    timeout_ms: 5000,
    regions: ["eu"],
    expect: { status: ["200"] },
  } as Target;
  const before = draftOf(target);
  expect(toBody(before, before)).toEqual({ ok: true, body: {} });
  expect(toBody({ ...before, regions: [], status: "", interval: "30" }, before)).toEqual({
    ok: true,
    body: { regions: [], expect: { status: [] }, interval_s: 30 },
  });
});

test("server errors land on their field; what names no field lands on the form", () => {
  const problem = (errors: Problem["errors"]): Problem => ({
    type: "about:blank",
    title: "invalid",
    status: 422,
    request_id: "r1",
    ...(errors ? { errors } : {}),
  });
  expect(
    errorsOf(
      problem([
        { pointer: "/interval_s", code: "interval_out_of_range", message: "an interval is from 10 s" },
        { pointer: "/expect/status/1", code: "invalid_status_range", message: "want a code" },
        { pointer: "/regions/0", code: "unknown_region", message: "there is no region x" },
        { pointer: "/nameless", code: "unknown_field", message: "unknown" },
      ]),
    ),
  ).toEqual({
    interval: "An interval is from 10 s.",
    status: "Want a code.",
    regions: "There is no region x.",
    form: "Unknown.",
  });
  expect(errorsOf(problem(undefined)).form).toContain("r1");
});
