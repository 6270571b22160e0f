import type { Assertion, AssertionRule as Rule } from "../api/spec";
import type { Kind, Problem } from "../api/types";
import { sentence } from "../ui/problems";
import { completeUrl } from "./form";

/** An assertion in the form. Its key stays the same while others come and go. */
export interface Row {
  key: number;
  of: Assertion;
}

/** As many as a target may have. */
export const MOST = 20;

export const rowsOf = (list: readonly Assertion[] | undefined): Row[] =>
  (list ?? []).map((of, i) => ({ key: i + 1, of }));

/** With one more at the end. */
export const withRow = (rows: readonly Row[], of: Assertion): Row[] => [
  ...rows,
  { key: Math.max(0, ...rows.map((row) => row.key)) + 1, of },
];

const listOf = (rows: readonly Row[]): Assertion[] => rows.map((row) => row.of);

/** The list as a whole when it changed: what no field shows of an assertion is in it as it was. */
export function assertionsBody(rows: readonly Row[], before: readonly Row[]): { assertions?: Assertion[] } {
  const list = listOf(rows);
  return JSON.stringify(list) === JSON.stringify(listOf(before)) ? {} : { assertions: list };
}

/** The kind that an address asks for; null: one that there is not. */
export function kindOf(url: string): Kind | null {
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(completeUrl(url))?.[1]?.toLowerCase() ?? "https";
  const kinds: Record<string, Kind> = {
    http: "http",
    https: "http",
    tcp: "tcp",
    tls: "tls",
    dns: "dns",
    icmp: "icmp",
    grpc: "grpc",
    grpcs: "grpc",
    ws: "websocket",
    wss: "websocket",
  };
  return kinds[scheme] ?? null;
}

/** Those that targets of the kind have; of no kind, all. */
export const rulesFor = (rules: readonly Rule[], kind: Kind | null): Rule[] =>
  rules.filter((rule) => kind === null || rule.kinds.includes(kind));

const typeOf = (rule: Rule | undefined, op: string): string => rule?.ops.find((one) => one.op === op)?.value ?? "text";

/** How the value is read: "none" where there is none. Of what no rule is known it is a text. */
export const valueType = (rules: readonly Rule[], { source, op }: Assertion): string =>
  typeOf(
    rules.find((rule) => rule.source === source),
    op,
  );

/** A new one of a source: with the first op, and a name where there is one that is most asked for. */
export function begun(rule: Rule): Assertion {
  const of: Assertion = { source: rule.source, op: rule.ops[0]?.op ?? "equals" };
  return withName(of, rule);
}

function withName(of: Assertion, rule: Rule): Assertion {
  if (rule.source === "phase") return { ...of, name: "wait" };
  return rule.source === "dns" ? { ...of, name: "A" } : of;
}

/** Another source: the op stays if it has that, and the value if it is read alike. */
export function ofSource(before: Assertion, source: string, rules: readonly Rule[]): Assertion {
  const rule = rules.find((one) => one.source === source);
  if (!rule) return { ...before, source };
  const { name: _, ...rest } = before;
  const op = rule.ops.some((one) => one.op === before.op) ? before.op : (rule.ops[0]?.op ?? before.op);
  const alike = valueType(rules, before) === typeOf(rule, op);
  return withName({ ...(alike ? rest : without(rest)), source, op }, rule);
}

/** Another op: what was typed stays unless there is nothing to compare with any more. */
export function ofOp(before: Assertion, op: string, rules: readonly Rule[]): Assertion {
  const after = { ...before, op };
  return valueType(rules, after) === "none" ? without(after) : after;
}

function without({ value: _, ...rest }: Assertion): Assertion {
  return rest;
}

/** What the server says of rows: by key, and in it by field; "" is the row as a whole. */
export type RowProblems = Record<number, Record<string, string>>;

export function rowProblems(problem: Problem, rows: readonly Row[]): RowProblems {
  const found: RowProblems = {};
  for (const { pointer, message } of problem.errors ?? []) {
    const [, index, field = ""] = /^\/assertions\/(\d+)(?:\/(\w+))?$/.exec(pointer) ?? [];
    const row = index === undefined ? undefined : rows[Number(index)];
    if (!row) continue;
    const of = found[row.key] ?? {};
    of[field] = [of[field], sentence(message)].filter(Boolean).join(" ");
    found[row.key] = of;
  }
  return found;
}
