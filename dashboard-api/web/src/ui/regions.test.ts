import { expect, test } from "vitest";
import type { RegionState } from "../api/types";
import { regionStateOf } from "./RegionDots";

const region = (status: RegionState["status"], fresh = true) => ({ status, fresh }) as RegionState;

test("a region tells what it measured, and no data when it is silent", () => {
  expect(regionStateOf(region("down"), "down")).toBe("down");
  expect(regionStateOf(region("up", false), "up")).toBe("no_data");
});

test("while a target is maintained what goes wrong was expected", () => {
  expect(regionStateOf(region("down"), "maintenance")).toBe("maintenance");
  expect(regionStateOf(region("up", false), "maintenance")).toBe("maintenance");
  expect(regionStateOf(region("up"), "maintenance")).toBe("up");
});
