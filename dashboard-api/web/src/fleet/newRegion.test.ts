import { expect, test } from "vitest";
import type { Fleet } from "../api/types";
import { command, firstOf, nameProblem } from "./newRegion";

test("names that a prober would take", () => {
  for (const name of ["eu", "eu-west-1", "a".repeat(32)]) expect(nameProblem(name)).toBeNull();
  for (const name of ["EU", "eu west", "é", "a".repeat(33), "push", "ext-office"])
    expect(nameProblem(name)).not.toBeNull();
});

test("the command names the region and knows no secret", () => {
  expect(command("eu-west")).toContain("REGION=eu-west \\\n");
  expect(command("")).toContain("REGION=NAME ");
  expect(command("eu").match(/PASSWORD/g)).toHaveLength(2);
});

test("a region is there when a prober of it beats", () => {
  const fleet = (live: boolean, age_s: number, stale_since?: string) =>
    ({
      stale_since,
      regions: [
        {
          region: "eu",
          live,
          probers: [
            { name: "eu-1", age_s },
            { name: "old", age_s: 90 },
          ],
        },
      ],
    }) as Fleet;
  expect(firstOf(fleet(true, 1), "eu")).toEqual(["eu-1"]);
  expect(firstOf(fleet(true, 1), "us")).toEqual([]);
  expect(firstOf(fleet(false, 60), "eu")).toEqual([]);
  expect(firstOf(fleet(true, 1, "2026-03-01T12:00:00.000Z"), "eu")).toEqual([]);
});
