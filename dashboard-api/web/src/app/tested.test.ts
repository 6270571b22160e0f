import { expect, test } from "vitest";
import type { Check } from "../api/checks";
import { previewWords } from "./tested";

const look = (status: string, measured = true) => ({
  region: "eu",
  status,
  total_us: 83_200,
  checked_at: measured ? "2026-11-27T20:00:00Z" : null,
});
const seen = (name: string, ...results: object[]) => ({
  name,
  check: { state: "COMPLETED", results, error: "" } as unknown as Check,
});

test("one preview says what each region saw", () => {
  expect(previewWords([])).toBe("");
  expect(previewWords([seen("Shop", look("up"))])).toBe("Shop: up from eu in 83 ms");
  expect(previewWords([seen("Shop")])).toBe("Shop: no region measured");
});

test("many previews name those that were not seen up", () => {
  expect(previewWords([seen("Shop", look("up")), seen("Blog", look("up"))])).toBe("Tested at once: 2. All are up.");
  expect(
    previewWords([
      seen("Shop", look("up")),
      seen("Blog", look("up"), look("degraded")),
      seen("Mail", look("unknown", false)),
      seen("API"),
    ]),
  ).toBe("Tested at once: 4. Not seen up: Blog, Mail, API.");
});
