// The scripts of public pages, as the API serves them, without a browser: what they do when streams of events fail,
// and where there is nothing to choose. In a browser they are in e2e/public.test.mjs.
import { readFileSync } from "node:fs";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

/** Runs a script of public pages among things that stand for the browser's. */
function run(name: string, things: Record<string, unknown>): void {
  const path = new URL(`../../../internal/statuspage/assets/${name}`, import.meta.url).pathname;
  new Function(...Object.keys(things), new TextDecoder().decode(readFileSync(path)))(...Object.values(things));
}

class Source {
  static readonly CLOSED = 2;
  onopen = () => {};
  onmessage = (_: { data: string; lastEventId: string }) => {};
  onerror = () => {};
  readyState = 0;
  closed = false;
  readonly address: string;
  constructor(address: string) {
    this.address = address;
    sources.push(this);
  }
  close(): void {
    this.closed = true;
  }
  says(message: object, lastEventId = ""): void {
    this.onmessage({ data: JSON.stringify(message), lastEventId });
  }
  breaks(readyState = 0): void {
    this.readyState = readyState;
    this.onerror();
  }
}

const element = () => ({
  dataset: {},
  textContent: "",
  querySelector: () => null,
  getAttribute: () => "",
  setAttribute: () => {},
  after: () => {},
  remove: () => {},
});
const here = "https://status.example/s/main";
const stateOf = (tag: string) => ({ state: "up", evidence_at: null, tag, components: [] });
const delta = (seq: number, tag = "a") => ({
  t: "delta",
  ch: "page:main",
  from_seq: seq - 1,
  seq,
  ops: [{ op: "upsert", id: "main", item: stateOf(tag) }],
});

let sources: Source[];
let fetched: string[]; // addresses that were asked for
const newest = () => sources.at(-1) as Source;
const polls = () => fetched.filter((url) => url === "/s/main/state.json").length;

/** How long until there is another stream. */
async function untilNext(): Promise<number> {
  const [from, before] = [Date.now(), sources.length];
  while (sources.length === before && Date.now() - from < 600_000) await vi.advanceTimersByTimeAsync(50);
  return Date.now() - from;
}

beforeEach(() => {
  vi.useFakeTimers();
  vi.spyOn(Math, "random").mockReturnValue(1);
  [sources, fetched] = [[], []];
  run("page.js", {
    document: {
      body: { dataset: { base: "/s/main", slug: "main", tag: "a", made: new Date().toISOString() } },
      documentElement: { lang: "en" },
      querySelector: element,
      querySelectorAll: () => [],
      getElementById: (id: string) => (id === "banner" ? element() : null),
      createElement: element,
      addEventListener: () => {},
      dispatchEvent: () => {},
    },
    window: { EventSource: Source }, // no websockets
    location: { href: here },
    EventSource: Source,
    Image: class {},
    fetch: async (url: string) => {
      fetched.push(url);
      if (url === here) throw new Error("not now");
      return { ok: true, headers: new Headers(), json: async () => stateOf("a") };
    },
  });
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

test("a stream that breaks off is opened again where it was, later each time, and then it asks", async () => {
  expect(sources.map((s) => s.address)).toEqual(["/s/main/events"]);
  newest().says(delta(4), "e.4.");
  const pauses: number[] = [];
  for (let n = 0; n < 4; n++) {
    newest().breaks();
    expect([newest().closed, polls()]).toEqual([true, 0]);
    pauses.push(await untilNext());
  }
  expect(pauses).toEqual([1000, 2000, 4000, 8000]);
  expect(new Set(sources.slice(1).map((s) => s.address))).toEqual(new Set(["/s/main/events?from=e.4."]));
  newest().breaks();
  expect([sources.length, polls()]).toEqual([5, 1]);
  await vi.advanceTimersByTimeAsync(30_000);
  expect([sources.length, polls()]).toEqual([5, 4]);
});

test("readers of a node that ends do not come back together", async () => {
  vi.mocked(Math.random).mockReturnValue(0.25);
  newest().breaks();
  expect(await untilNext()).toBe(250);
  vi.mocked(Math.random).mockReturnValue(0.75);
  newest().breaks();
  expect(await untilNext()).toBe(1500);
});

test("pauses begin anew after a stream that has lasted, and not after one that only said something", async () => {
  newest().breaks();
  await untilNext();
  newest().says(delta(5), "e.5.");
  newest().breaks();
  expect(await untilNext()).toBe(2000);
  newest().says({ t: "ping" }); // it has no id: where it was is known still
  newest().breaks();
  expect(await untilNext()).toBe(1000);
  expect(newest().address).toBe("/s/main/events?from=e.5.");
});

test("who is refused a stream asks at once, and tries each way once a few minutes later", async () => {
  newest().breaks(Source.CLOSED);
  expect(polls()).toBe(1);
  expect(await untilNext()).toBe(360_000);
  const asked = polls();
  expect(asked).toBeGreaterThan(30);
  newest().breaks();
  expect(polls()).toBe(asked + 1);
  expect(await untilNext()).toBe(360_000);
});

test("a stream that says nothing for 35 s is none", async () => {
  await vi.advanceTimersByTimeAsync(20_000);
  newest().says({ t: "ping" });
  await vi.advanceTimersByTimeAsync(34_000);
  expect(newest().closed).toBe(false);
  await vi.advanceTimersByTimeAsync(1_000);
  expect([newest().closed, sources.length]).toEqual([true, 1]);
  expect(polls()).toBeGreaterThan(0);
});

test("what a stream tells on its return is taken, and what happened before it was there is asked for", async () => {
  newest().says(delta(4), "e.4.");
  newest().breaks();
  await untilNext();
  newest().onopen();
  expect([polls(), fetched.includes(here)]).toEqual([1, false]);
  await vi.advanceTimersByTimeAsync(0);
  newest().says(delta(5, "b"), "e.5."); // there is more to see than states
  await vi.advanceTimersByTimeAsync(1_000);
  expect(fetched).toContain(here);
});

test.each([
  ["dark", "dark"],
  ["light", "light"],
  ["auto", "auto"],
  ["plaid", "light"],
  [null, "light"],
  [undefined, "light"], // this browser keeps nothing
])("where nothing can be chosen, chosen before was %s: the theme is %s", (kept, theme) => {
  const dataset = { theme: "light" }; // the page's own
  let loaded = () => {};
  run("reader.js", {
    document: {
      documentElement: { dataset },
      body: { dataset: {} },
      querySelector: () => null,
      querySelectorAll: () => [],
      getElementById: () => null,
      addEventListener: (kind: string, listener: () => void) => {
        if (kind === "DOMContentLoaded") loaded = listener;
      },
    },
    localStorage: {
      getItem: (key: string) => {
        if (kept === undefined) throw new Error("blocked");
        return key === "probefleet.page.theme" ? kept : null;
      },
    },
  });
  expect(dataset.theme).toBe(theme); // before anything is drawn
  loaded();
  expect(dataset.theme).toBe(theme);
});
