import { expect, test } from "vitest";
import type { Clause } from "../api/live.gen";
import { because } from "./because";
import { absolute } from "./time";
import { whyWords } from "./why";

const at = "2026-03-01T12:00:00Z";
const refused = { region: "eu", what: "connect_refused" };

test("each reason has its words", () => {
  const say = (...clauses: Clause[]) => because(clauses);
  expect(say({ is: "up", n: 3 })).toBe("Up in every region that reports (3)");
  expect(
    say(
      { is: "maintenance" },
      { is: "down", n: 2, of: 3, seen: [refused, { region: "us", what: "status_code", http_status: 503 }] },
      { is: "silent", names: ["ap"] },
    ),
  ).toBe("In maintenance; Down in 2 of 3: eu: The connection was refused, us: Unexpected status code 503; Silent: ap");
  expect(say({ is: "doubted", seen: [{ ...refused, n: 1, of: 3 }] })).toBe(
    "Not counted yet: eu: The connection was refused (1 of 3)",
  );
  expect(say({ is: "degraded", n: 1, of: 1, seen: [{ region: "eu", what: "status_code", said: "NOT_SERVING" }] })).toBe(
    "Degraded in 1 of 1: eu: NOT_SERVING",
  );
  expect(
    say(
      { is: "changed", what: "degraded", name: "down" },
      { is: "began", at },
      { is: "needs", n: 2, of: 3 },
      { is: "times", n: 2 },
      { is: "lasting", n: 90 },
      { is: "held", what: "parent" },
      { is: "dependents", n: 4 },
    ),
  ).toBe(
    `From Degraded to Down; It began at ${absolute(at)}; Regions that must fail: 2 of 3; Results in a row: 2; For at least 1 min 30 s; Suppressed until now by what it depends on; Targets that depend on it: 4`,
  );
  expect(say({ is: "together", n: 7, of: 2, at, what: "address", name: "192.0.2.1", names: ["A", "B"] })).toBe(
    `Targets that fail together since ${absolute(at)}: 7 (A, B and 5 more); They share the address: 192.0.2.1; Well with the same: 2`,
  );
});

test("what has no words here is said as the server says it", () => {
  expect(whyWords("Down.", undefined)).toBe("Down.");
  expect(whyWords("Down.", [])).toBe("Down.");
  expect(whyWords("New.", [{ is: "up", n: 1 }, { is: "of tomorrow" } as unknown as Clause])).toBe("New.");
  expect(whyWords("Down.", [{ is: "paused" }])).toBe("Not being checked");
});
