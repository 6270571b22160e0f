import { describe, expect, it } from "vitest";
import type { Difference, Gap } from "../api/changes";
import { gapsOf, missingWords, onlyFailed, rowsOf } from "./changes";

const difference = (what: Difference["what"], before: string, after: string, more: Partial<Difference> = {}) => ({
  what,
  before,
  after,
  phase: "" as const,
  ended: false,
  headers: [],
  ...more,
});

/** The lines as text. */
const told = (differences: Difference[], kind = "http") =>
  rowsOf({ differences }, kind, "utc").map((row) => `${row.name}: ${row.before} > ${row.after}${row.code ? " #" : ""}`);

describe("what changed", () => {
  it("tells each difference in words", () => {
    expect(
      told([
        difference("failure", "", "status_code"),
        difference("http_status", "200", "503"),
        difference("target", "7", "12"),
        difference("address", "192.0.2.1", "192.0.2.2"),
        difference("certificate", "0123456789abcdef0123", ""),
        difference("issuer", "CN=Old", "CN=New"),
        difference("expiry", "2026-09-01T00:00:00Z", ""),
        difference("redirect", "https://a.example/", "https://b.example/"),
        difference("tls", "1.3", "1.2"),
        difference("protocol", "HTTP/2.0", "HTTP/1.1"),
        difference("headers", "aa", "bb", {
          headers: [
            { name: "Server", before: "nginx", after: "caddy" },
            { name: "X-Powered-By", before: "", after: "x" },
          ],
        }),
      ]),
    ).toEqual([
      "Failure: none > Unexpected status",
      "Status code: 200 > 503",
      "The target was edited: version 7 > version 12",
      "Address: 192.0.2.1 > 192.0.2.2 #",
      "Certificate: SHA-256 0123456789abcdef… > none #",
      "Issuer of the certificate: CN=Old > CN=New #",
      "Certificate valid until: 01 Sept 2026, 00:00:00 UTC > none",
      "Final address: https://a.example/ > https://b.example/ #",
      "TLS version: 1.3 > 1.2",
      "Protocol: HTTP/2.0 > HTTP/1.1",
      "Header Server: nginx > caddy #",
      "Header X-Powered-By: none > x #",
    ]);
  });

  it("says in which phase a check ended, or which one took longer", () => {
    expect(
      told([
        difference("phase", "80000", "900000", { phase: "wait" }),
        difference("phase", "20000", "9000000", { phase: "connect", ended: true }),
        difference("phase", "0", "0", { phase: "dns", ended: true }),
      ]),
    ).toEqual([
      "Slower: Wait for answer: 80 ms > 900 ms",
      "Ended in: Connect: 20 ms > ended after 9.00 s",
      "Ended in: Name look-up: none > none",
    ]);
  });

  it("leaves out the status code of gRPC, which only says that there was an answer", () => {
    expect(told([difference("http_status", "200", "503")], "grpc")).toEqual([]);
  });

  it("has the whole fingerprint at hand", () => {
    const [row] = rowsOf({ differences: [difference("certificate", "ab".repeat(32), "")] }, "http", "utc");
    expect(row?.titles).toEqual(["ab".repeat(32), ""]);
  });

  it("shows words of a newer API as they are", () => {
    const what = "weather" as Difference["what"];
    expect(told([difference(what, "sun", "rain")])).toEqual(["weather: sun > rain #"]);
    const gap = { what: "weather", why: "cloudy" } as unknown as Gap;
    expect(gapsOf([gap])).toEqual(["Not known of weather: cloudy."]);
  });

  it("says what is not known, a sentence for each reason", () => {
    expect(
      gapsOf([
        { what: "address", why: "not_reached" },
        { what: "certificate", why: "no_print" },
        { what: "redirect", why: "no_print" },
        { what: "headers", why: "no_print" },
        { what: "certificate", why: "elsewhere" },
      ]),
    ).toEqual([
      "Not known of the address: the failed check ended before it got that far.",
      "Not known of the certificate, where it redirects to and the headers: nothing is stored of what the last good check saw.",
      "Not known of the certificate: the failed check ended at another server.",
    ]);
    expect(gapsOf([])).toEqual([]);
  });

  it("knows when nothing says why", () => {
    const failure = difference("failure", "", "timeout");
    expect(onlyFailed({ differences: [failure], unknown: [] })).toBe(true);
    expect(onlyFailed({ differences: [failure, difference("tls", "1.3", "1.2")], unknown: [] })).toBe(false);
    expect(onlyFailed({ differences: [failure], unknown: [{ what: "headers", why: "unsteady" }] })).toBe(false);
  });

  it("says why there is nothing to compare", () => {
    expect(missingWords({ missing: "not_kept", regions: [] })).toMatch(/not kept/);
    expect(missingWords({ missing: "no_target", regions: [] })).toMatch(/no target/);
    expect(missingWords({ missing: "no_failure", regions: [] })).toMatch(/No failed check/);
    expect(missingWords({ missing: "by_policy", regions: [] })).toMatch(/No check failed/);
    expect(missingWords({ missing: "", regions: [{} as never] })).toBe("");
  });
});
