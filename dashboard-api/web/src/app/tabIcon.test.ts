import { describe, expect, it } from "vitest";
import { tabIcon } from "./tabIcon";

const none = { up: 0, degraded: 0, down: 0, no_data: 0, maintenance: 0, paused: 0 };

describe("the icon of the tab", () => {
  it.each([
    ["ok", { up: 3 }],
    ["ok", { up: 3, maintenance: 1, paused: 2 }],
    ["degraded", { up: 3, degraded: 1, no_data: 2 }],
    ["down-2", { up: 3, degraded: 1, down: 2 }],
    ["down-9", { down: 9 }],
    ["down-many", { down: 10 }],
    ["stale", { up: 3, no_data: 1 }],
    ["stale", { no_data: 3 }],
    ["stale", { paused: 3 }],
    ["stale", { maintenance: 1 }],
    ["stale", {}],
  ])("is %s with %o", (icon, counts) => expect(tabIcon({ ...none, ...counts }, true)).toBe(icon));

  it("says nothing of what may be over", () => {
    for (const counts of [{ up: 3 }, { down: 1 }]) expect(tabIcon({ ...none, ...counts }, false)).toBe("stale");
  });
});
