import { expect, test } from "vitest";
import type { Incident } from "../api/incidents";
import { bandsOf, clipped } from "./bands";

const incident = (began_at: string, resolved_at: string | null, severity: Incident["severity"] = "down") =>
  ({ began_at, resolved_at, severity }) as Incident;

test("an incident is shaded from its first failing check until its end, the worst above the others", () => {
  const down = incident("1970-01-01T00:01:40Z", "1970-01-01T00:03:20Z");
  const slow = incident("1970-01-01T00:02:30Z", null, "degraded");
  expect(bandsOf([down, slow])).toEqual([
    { from: 150, to: null, severity: "degraded" },
    { from: 100, to: 200, severity: "down" },
  ]);
});

test("only what is in the range is shaded, and ends only where it ends", () => {
  const of = (from: number, to: number | null) => clipped({ from, to, severity: "down" }, 100, 200, 300);
  expect(of(120, 150)).toEqual({ left: 120, right: 150, begins: true, ends: true });
  expect(of(50, 150)).toEqual({ left: 100, right: 150, begins: false, ends: true });
  expect(of(120, null)).toEqual({ left: 120, right: 200, begins: true, ends: false });
  expect(of(50, 250)).toEqual({ left: 100, right: 200, begins: false, ends: false });
  expect(of(10, 100)).toBeNull();
  expect(of(200, null)).toBeNull();
  const open = { from: 120, to: null, severity: "down" } as const;
  expect(clipped(open, 100, 200, 160)).toEqual({ left: 120, right: 160, begins: true, ends: false });
});
