import { expect, test } from "vitest";
import { bytes, duration, explain, kindWord, latency, percent, safeHref, shortUrl, tellingStatus } from "./words";

test("uptime is never rounded up to 100 %", () => {
  expect(percent(0.99999)).toBe("99.99%");
  expect(percent(1)).toBe("100%");
  expect(percent(null)).toBe("–");
});

test("latencies and durations read naturally", () => {
  expect([420, 9_949, 123_400, 999_499, 1_240_000].map(latency)).toEqual([
    "0.4 ms",
    "9.9 ms",
    "123 ms",
    "999 ms",
    "1.24 s",
  ]);
  expect([5, 65, 600, 3_599, 3_600, 5_400, 90_000].map(duration)).toEqual([
    "5 s",
    "1 min 5 s",
    "10 min",
    "60 min",
    "1 h",
    "1 h 30 min",
    "1 d 1 h",
  ]);
});

test("only web addresses become links", () => {
  expect(safeHref("https://example.com/a")).toBe("https://example.com/a");
  for (const bad of [
    "javascript:alert(1)",
    "data:text/html,x",
    "file:///etc/passwd",
    "tcp://a:1",
    "dns:///a",
    "",
    "//x",
  ])
    expect(safeHref(bad)).toBeNull();
});

test("failures and reasons are words", () => {
  expect(explain("status_code", "", 503)).toBe("Unexpected status code 503");
  expect(explain("", "region_down")).toContain("region");
  expect(explain("something_new", "")).toBe("something_new");
});

test("addresses of every kind are short and say what is checked", () => {
  expect(shortUrl("https://example.com/")).toBe("example.com");
  expect(shortUrl("tcp://mail.example.com:25")).toBe("tcp://mail.example.com:25");
  expect(shortUrl("grpcs://example.com:443/a.B")).toBe("grpcs://example.com:443/a.B");
  expect(shortUrl("dns:///example.com?type=MX")).toBe("example.com MX");
  expect(shortUrl("dns://[2001:db8::1]:53/example.com?type=AAAA")).toBe("example.com AAAA at [2001:db8::1]:53");
  expect(shortUrl("dns:///.?type=NS")).toBe(". NS");
  expect(shortUrl("dns:odd")).toBe("dns:odd");
  expect(shortUrl("heartbeat://nightly-backup")).toBe("nightly-backup");
});

test("kinds have names, also those to come", () => {
  expect(["http", "icmp", "grpc", "smoke", ""].map(kindWord)).toEqual(["Web", "Ping", "gRPC", "smoke", ""]);
  expect(explain("status_code", "", tellingStatus("grpc", 200))).toBe("Unexpected status");
  expect(explain("status_code", "", tellingStatus("http", 200))).toBe("Unexpected status code 200");
});

test("sizes read naturally", () => {
  expect([0, 1023, 1536, 262_144, 1_048_576].map(bytes)).toEqual(["0 B", "1023 B", "1.5 KiB", "256 KiB", "1.0 MiB"]);
});
