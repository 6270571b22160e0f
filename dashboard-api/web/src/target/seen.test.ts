import { expect, test } from "vitest";
import { answerOf, keepsEvidence, validity } from "./seen";
import { spansOf } from "./Waterfall";

test("only visits that were not up have something to show", () => {
  const of = (kind: string) =>
    (["up", "degraded", "down", "unknown", "missed"] as const).filter((status) => keepsEvidence(kind, status));
  expect(of("http")).toEqual(["degraded", "down"]);
  expect(of("heartbeat")).toEqual([]);
});

test("the answer is its status line and its headers, line by line", () => {
  const headers = [
    { name: "Content-Type", value: "text/plain" },
    { name: "Set-Cookie", value: "[secret]" },
  ];
  expect(answerOf({ status_line: "HTTP/1.1 503 Service Unavailable", headers })).toBe(
    "HTTP/1.1 503 Service Unavailable\nContent-Type: text/plain\nSet-Cookie: [secret]",
  );
  expect(answerOf({ headers: null })).toBe("");
});

test("a certificate is judged at the time of the check, not by now", () => {
  const of = { not_before: "2020-01-01T00:00:00Z", not_after: "2020-03-01T00:00:00Z" };
  expect(validity(of, "2020-02-01T00:00:00Z")).toBe("valid");
  expect(validity(of, "2020-03-01T00:00:01Z")).toBe("over");
  expect(validity(of, "2019-12-31T23:59:59Z")).toBe("early");
});

test("a hop begins where the one before it ended", () => {
  const hop = (us: number) => ({ phases: { dns_us: 0, connect_us: us, tls_us: 0, wait_us: us, transfer_us: 1 } });
  expect(spansOf([hop(10), hop(20), hop(0)])).toEqual({ before: [0, 21, 62], whole: 63 });
  expect(spansOf([])).toEqual({ before: [], whole: 0 });
});
