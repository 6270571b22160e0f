import { expect, test } from "vitest";
import { askAll, replayWords, waiting } from "./letters";

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

test("any number is asked for, at most a hundred at a time", async () => {
  const ids = Array.from({ length: 230 }, (_, i) => String(i));
  const sent: string[][] = [];
  const ask = async (some: readonly string[]) => {
    sent.push([...some]);
    return { asked: some.length - 1 }; // one of each is gone
  };
  expect(await askAll(ids, ask)).toEqual({ asked: 227, error: null });
  expect(sent.map((some) => some.length)).toEqual([100, 100, 30]);
  expect(sent.flat()).toEqual(ids);
});

test("what was asked for before it failed is told, and nothing is asked for after it", async () => {
  const away = new Error("away");
  let requests = 0;
  const ask = async () => {
    if (++requests === 2) throw away;
    return { asked: 100 };
  };
  expect(await askAll(Array(300).fill("x"), ask)).toEqual({ asked: 100, error: away });
  expect(requests).toBe(2);
});
