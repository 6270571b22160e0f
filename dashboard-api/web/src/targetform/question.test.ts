import { expect, test } from "vitest";
import { healthOf, questionOf, withHealth, withQuestion } from "./question";

test("a question is read from its address", () => {
  expect(questionOf("dns:///example.com?type=mx")).toEqual({ server: "", name: "example.com", type: "MX" });
  expect(questionOf("dns://9.9.9.9/example.com")).toEqual({ server: "9.9.9.9", name: "example.com", type: "A" });
  expect(questionOf("DNS:example.com?class=IN;type=TXT")).toEqual({ server: "", name: "example.com", type: "TXT" });
  expect(questionOf("dns://[2620:fe::fe]:53/.?type=NS")).toEqual({ server: "[2620:fe::fe]:53", name: ".", type: "NS" });
  expect(questionOf("dns://9.9.9.9")).toEqual({ server: "9.9.9.9", name: "", type: "A" });
  expect(questionOf("https://example.com/")).toBeNull();
});

test("another type or server leaves the rest, and cannot end its place in the address", () => {
  const url = "dns:///example.com?type=MX";
  expect(withQuestion(url, { type: "AAAA" })).toBe("dns:///example.com?type=AAAA");
  expect(withQuestion(url, { server: "9.9.9.9:53" })).toBe("dns://9.9.9.9:53/example.com?type=MX");
  expect(withQuestion("dns://9.9.9.9/example.com?type=MX", { server: "" })).toBe(url);
  expect(withQuestion("dns:example.com", { server: " a/b?c#d " })).toBe("dns://abcd/example.com?type=A");
  expect(withQuestion("https://a/", { type: "A" })).toBe("https://a/");
});

test("a health check is read from its address, and another service or TLS leaves the rest", () => {
  expect(healthOf("grpc://a.example:50051")).toEqual({ secure: false, host: "a.example:50051", service: "" });
  expect(healthOf("GRPCS://a:1/pkg.Service")).toEqual({ secure: true, host: "a:1", service: "pkg.Service" });
  expect(healthOf("https://a/")).toBeNull();
  expect(withHealth("grpc://a:1", { service: "pkg.Service" })).toBe("grpc://a:1/pkg.Service");
  expect(withHealth("grpc://a:1/pkg.Service", { service: "" })).toBe("grpc://a:1");
  expect(withHealth("grpc://a:1/pkg.Service", { secure: true })).toBe("grpcs://a:1/pkg.Service");
  expect(withHealth("grpc://a:1", { service: " a?b#c " })).toBe("grpc://a:1/abc");
});
