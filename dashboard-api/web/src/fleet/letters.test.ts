import { expect, test } from "vitest";
import { replayWords, waiting } from "./letters";

test("how far a replay is", () => {
  expect(replayWords({ replay: "", replayable: true, tries: 0 })).toBe("");
  expect(replayWords({ replay: "asked", replayable: true, tries: 0 })).toBe("Waits for a prober");
  expect(replayWords({ replay: "running", replayable: true, tries: 1 })).toBe("Being run");
  expect(replayWords({ replay: "given_up", replayable: true, tries: 3 })).toBe("Given up after 3 tries");
  expect(replayWords({ replay: "", replayable: false, tries: 0 })).toContain("cannot read");
});

test("one that was given up may be asked for again, one that waits need not", () => {
  expect([waiting({ replay: "asked" }), waiting({ replay: "running" })]).toEqual([true, true]);
  expect([waiting({ replay: "" }), waiting({ replay: "given_up" })]).toEqual([false, false]);
});
