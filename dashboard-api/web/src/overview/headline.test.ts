import { expect, test } from "vitest";
import { headline } from "./headline";

const none = { up: 0, degraded: 0, down: 0, maintenance: 0, no_data: 0, paused: 0 };

test("maintenance is told of only when nothing is wrong", () => {
  expect(headline({ ...none, up: 2, maintenance: 1 }, 3)).toBe("1 target is in maintenance, nothing is wrong");
  expect(headline({ ...none, up: 1, maintenance: 2, paused: 1 }, 4)).toBe(
    "2 targets are in maintenance, nothing is wrong",
  );
  expect(headline({ ...none, up: 3 }, 3)).toBe("All 3 targets are up");
  expect(headline({ ...none, up: 1, paused: 1 }, 2)).toBe("The target is up");
  expect(headline({ ...none, maintenance: 1, no_data: 1 }, 2)).toBe("1 target has no data");
  expect(headline({ ...none, maintenance: 2 }, 2)).toBe("Everything is in maintenance");
  expect(headline({ ...none, paused: 2 }, 2)).toBe("Everything is paused");
  expect(headline(none, 0)).toBe("Nothing is watched yet");
  expect(headline({ ...none, down: 1, maintenance: 4 }, 5)).toBe("1 target is down");
});
