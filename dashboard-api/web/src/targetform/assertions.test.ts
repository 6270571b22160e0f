import { expect, test } from "vitest";
import type { Assertion, AssertionRule as Rule } from "../api/spec";
import type { Problem } from "../api/types";
import { assertionsBody, begun, kindOf, ofOp, ofSource, rowProblems, rowsOf, rulesFor } from "./assertions";

const ops = (value: string, ...names: string[]) => names.map((op) => ({ op, value }));
const rules: Rule[] = [
  { source: "status", kinds: ["http"], name: "", ops: [...ops("status", "equals"), ...ops("statuses", "in")] },
  {
    source: "header",
    kinds: ["http"],
    name: "the name of the header",
    ops: [...ops("text", "equals", "contains"), ...ops("none", "exists"), ...ops("texts", "in")],
  },
  { source: "body", kinds: ["http"], name: "", ops: ops("text", "equals", "contains") },
  { source: "phase", kinds: ["http", "tcp"], name: "a phase", ops: ops("ms", "lt") },
];

test("what was not changed is not sent, and what no field shows is sent as it was", () => {
  const stored = [
    { source: "body", op: "contains", value: "ok", severity: "degrade", note: "of tomorrow" },
    { source: "status", op: "equals", value: "200" },
  ] as Assertion[];
  const before = rowsOf(stored);
  expect(assertionsBody(rowsOf(stored), before)).toEqual({});
  const [first, second] = rowsOf(stored);
  if (!first || !second) throw new Error("there are two");
  const changed = [{ ...first, of: { ...first.of, value: "fine" } }, second];
  expect(assertionsBody(changed, before)).toEqual({
    assertions: [
      { source: "body", op: "contains", value: "fine", severity: "degrade", note: "of tomorrow" },
      stored[1],
    ],
  });
  expect(assertionsBody([second], before)).toEqual({ assertions: [stored[1]] });
  expect(assertionsBody([], before)).toEqual({ assertions: [] });
  expect(assertionsBody([], [])).toEqual({});
});

test("an address asks for the sources of its kind; one that cannot be read for all", () => {
  expect(
    ["example.com", "", "HTTPS://a", "tcp://a:1", "grpcs://a", "ws://a", "dns:///a", "ftp://a"].map(kindOf),
  ).toEqual(["http", "http", "http", "tcp", "grpc", "websocket", "dns", null]);
  expect(rulesFor(rules, "tcp").map((rule) => rule.source)).toEqual(["phase"]);
  expect(rulesFor(rules, null)).toEqual(rules);
});

test("another source or op keeps what still means the same", () => {
  const body: Assertion = { source: "body", op: "contains", value: "ok", severity: "degrade" };
  expect(ofSource(body, "header", rules)).toEqual({ ...body, source: "header" });
  expect(ofSource(body, "status", rules)).toEqual({ source: "status", op: "equals", severity: "degrade" });
  const header: Assertion = { source: "header", name: "Server", op: "equals", value: "x" };
  expect(ofSource(header, "body", rules)).toEqual({ source: "body", op: "equals", value: "x" });
  expect(ofSource(header, "phase", rules)).toEqual({ source: "phase", name: "wait", op: "lt" });
  expect(ofOp(header, "exists", rules)).toEqual({ source: "header", name: "Server", op: "exists" });
  expect(ofOp(header, "in", rules)).toEqual({ ...header, op: "in" });
  expect(begun(rules[0] as Rule)).toEqual({ source: "status", op: "equals" });
});

test("what the server says lands on its row and field", () => {
  const rows = rowsOf([
    { source: "body", op: "matches" },
    { source: "status", op: "equals" },
  ]).reverse();
  const errors = [
    { pointer: "/assertions/0/value", code: "x", message: "want a code" },
    { pointer: "/assertions/1", code: "x", message: "no" },
    { pointer: "/assertions", code: "x", message: "too many" },
    { pointer: "/assertions/7/op", code: "x", message: "elsewhere" },
    { pointer: "/url", code: "x", message: "not here" },
  ];
  const problem: Problem = { type: "about:blank", title: "invalid", status: 422, errors };
  expect(rowProblems(problem, rows)).toEqual({ 2: { value: "Want a code." }, 1: { "": "No." } });
});
