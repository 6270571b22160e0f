// Figures of the dashboard in a real Chromium, a part at a time: node e2e/bench.mjs first|chart|live|changes|heap|many.
// `make bench-web` runs them against the real programs and holds the figures against their aims.
// Each part prints one line of JSON.
import { must, settings, signIn, startBrowser, until } from "./harness.mjs";
import { recorder } from "./recorder.mjs";

const part = process.argv[2];
const FRAME_MS = 17;
const SOON_MS = 1_000; // after the row
const size = { width: 1280, height: 860 };
const sleep = (seconds) => new Promise((resolve) => setTimeout(resolve, seconds * 1000));
const number = (name, otherwise) => Number(process.env[name] || otherwise);
const round = (n, digits = 1) => Number(n.toFixed(digits));
const quantile = (values, q) => {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted.length === 0 ? 0 : sorted[Math.min(sorted.length - 1, Math.ceil(q * sorted.length) - 1)];
};
const worst = (values) => round(Math.max(...values));
const say = (text) => console.error(text);

let cookies; // of the owner, once signed in
const browser = await startBrowser();
try {
  const parts = { first, chart, live, changes, heap, many };
  console.log(JSON.stringify({ chromium: browser.version(), ...(await parts[part]()) }));
} finally {
  await browser.close();
}

/** A page that keeps account of its frames, its long tasks and when it showed what. */
async function open(path, viewport = size) {
  const context = await browser.newContext({ viewport, storageState: await signedIn() });
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  await page.addInitScript(recorder);
  await sleep(1); // what a new window costs the browser is not the page's
  await page.goto(new URL(path, settings.base).href);
  return page;
}

async function signedIn() {
  cookies ??= await signIn(browser);
  return cookies;
}

/** When the first rows and the live connection were there, in ms since the navigation began. */
async function loaded(page) {
  // Infinity is what is there and not painted yet.
  await page.waitForFunction(() => Number.isFinite(window.bench.at.rows) && Number.isFinite(window.bench.at.live));
  return page.evaluate(() => {
    const { loadEventEnd } = performance.getEntriesByType("navigation")[0];
    const { rows, live } = window.bench.at;
    const long = window.bench.tasks.map((task) => task.ms);
    return { load: loadEventEnd, rows, live, tasks: long };
  });
}

async function loads(times, path = "/") {
  const all = [];
  for (let i = 0; i < times; i++) {
    const page = await open(path);
    all.push(await loaded(page));
    await page.context().close();
    await sleep(1);
  }
  const of = (pick) => all.map(pick);
  return {
    loads: times,
    load_event_ms: round(
      quantile(
        of((l) => l.load),
        0.5,
      ),
    ),
    first_data_ms: worst(of((l) => l.rows)),
    first_data_p50_ms: round(
      quantile(
        of((l) => l.rows),
        0.5,
      ),
    ),
    first_data_after_load_ms: worst(of((l) => Math.max(0, l.rows - l.load))),
    first_data_after_load_p50_ms: round(
      quantile(
        of((l) => Math.max(0, l.rows - l.load)),
        0.5,
      ),
    ),
    live_ms: worst(of((l) => l.live)),
    live_p50_ms: round(
      quantile(
        of((l) => l.live),
        0.5,
      ),
    ),
    loading_longest_task_ms: worst([0, ...all.flatMap((l) => l.tasks)]),
  };
}

/** What frames and tasks were like for some seconds, and how many rows changed. */
async function watched(page, seconds) {
  await page.evaluate(() => window.bench.begin());
  await sleep(seconds);
  const { frames, tasks, rows } = await page.evaluate(() => window.bench.end());
  return {
    seconds,
    frames: frames.length,
    frame_p50_ms: round(quantile(frames, 0.5)),
    frame_p95_ms: round(quantile(frames, 0.95)),
    frame_p99_ms: round(quantile(frames, 0.99)),
    frame_most_ms: worst([0, ...frames]),
    longest_task_ms: worst([0, ...tasks]),
    tasks_over_50_ms: tasks.length,
    row_changes_per_s: round(rows / seconds),
  };
}

/** From the link that was printed, through the forms as somebody types them, to the first live tick. */
async function first() {
  const page = await (await browser.newContext({ viewport: size })).newPage();
  page.setDefaultTimeout(60_000);
  const typed = { delay: number("KEY_MS", 100) };
  const link = new URL(settings.setupLink);
  const began = Date.now();
  await page.goto(new URL(link.pathname + link.search + link.hash, settings.base).href);
  await page.getByLabel("E-mail").pressSequentially(settings.email, typed);
  await page.getByLabel("Password").pressSequentially(settings.password, typed);
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByLabel("URLs").pressSequentially(`${process.env.LAB_URL}/ok`, typed);
  await page.getByRole("button", { name: "Start watching" }).click();
  const asked = Date.now();
  await page.locator("[data-first] svg.ticks[data-count]:not([data-count='0'])").waitFor();
  const seen = Date.now();
  return {
    seconds: round((seen - began) / 1000, 2),
    of_these_typing_s: round((asked - began) / 1000, 2),
    key_ms: typed.delay,
    fields: 3,
  };
}

/** The overview while results arrive. */
async function live() {
  const opened = await loads(number("LOADS", 9));
  const page = await open("/");
  await loaded(page);
  await sleep(5);
  const before = await place();
  const seen = await watched(page, number("SECONDS", 10));
  const after = await place();
  say(`live: ${JSON.stringify({ ...opened, ...seen })}`);
  const bare = await bareOf(page, seen.row_changes_per_s, number("SECONDS", 10));
  say(`bare: ${JSON.stringify(bare)}`);
  return {
    ...opened,
    ...seen,
    results_per_s: round((after.seq - before.seq) / ((after.at - before.at) / 1000)),
    bare,
  };
}

async function place() {
  const { seq } = await must("GET", "/live/snapshot");
  return { seq, at: Date.now() };
}

/** The same picture without the program: a copy of the page in which as many rows change. */
async function bareOf(page, changesPerSecond, seconds) {
  const copy = await page.evaluate(() => window.bench.copy());
  const bare = await (await browser.newContext({ viewport: size })).newPage();
  await bare.addInitScript(recorder);
  await bare.goto("about:blank");
  await bare.setContent(copy);
  await bare.evaluate((perSecond) => window.bench.pretend(perSecond), changesPerSecond);
  await sleep(2);
  const seen = await watched(bare, seconds);
  await bare.context().close();
  return seen;
}

/** Three months of a target in five phases: from the click, and from the end of the answer, to the painted chart. */
async function chart() {
  const clicked = [];
  const answered = [];
  let steps = 0;
  for (let i = 0; i < number("LOADS", 9); i++) {
    const page = await open(`/targets/${process.env.CHART_ID}`);
    const plotted = page.locator(".plot canvas");
    await plotted.waitFor();
    await sleep(1);
    // The chart of before stays until the answer is there, and is made anew then.
    await plotted.evaluate((canvas) => canvas.setAttribute("data-before", ""));
    await page.evaluate(() => {
      window.answers = () =>
        performance
          .getEntriesByType("resource")
          .filter(({ name, startTime }) => name.includes("/series?") && startTime >= window.bench.began);
      window.bench.await(
        () => window.answers().length > 0 && document.querySelector(".plot canvas:not([data-before])"),
      );
    });
    await page.getByRole("group", { name: "Range" }).getByRole("button", { name: "90 d" }).click();
    const seen = await page.evaluate(async () => {
      const ms = await window.bench.answer;
      return { ms, after: window.bench.began + ms - window.answers().at(-1).responseEnd };
    });
    clicked.push(seen.ms);
    answered.push(seen.after);
    await page.getByRole("button", { name: "Table", exact: true }).first().click();
    steps = await page.locator("#performance").locator("xpath=ancestor::section").locator("tbody tr").count();
    await page.context().close();
  }
  return {
    steps,
    paint_ms: worst(answered),
    paint_p50_ms: round(quantile(answered, 0.5)),
    clicked_ms: worst(clicked),
    clicked_p50_ms: round(quantile(clicked, 0.5)),
  };
}

/**
 * The heap of the overview after a forced collection, every half minute; the first minute is not counted. Its targets
 * have all the ticks that a row shows by then: while those are still to come, it grows with them.
 */
async function heap() {
  const minutes = number("MINUTES", 10);
  const page = await open("/");
  await loaded(page);
  const devtools = await page.context().newCDPSession(page);
  const used = async () => {
    for (let i = 0; i < 2; i++) await devtools.send("HeapProfiler.collectGarbage");
    return (await devtools.send("Runtime.getHeapUsage")).usedSize / 1e6;
  };
  await sleep(60);
  const began = Date.now();
  const samples = [[0, await used()]];
  const every = Math.min(30, (minutes * 60) / 4);
  while (Date.now() - began < minutes * 60_000 - 1000) {
    await sleep(every);
    samples.push([(Date.now() - began) / 60_000, await used()]);
    say(
      `heap after ${samples
        .at(-1)
        .map((n) => n.toFixed(2))
        .join(" min: ")} MB`,
    );
  }
  const mean = (i) => samples.reduce((sum, sample) => sum + sample[i], 0) / samples.length;
  const [x, y] = [mean(0), mean(1)];
  const slope =
    samples.reduce((sum, [at, mb]) => sum + (at - x) * (mb - y), 0) /
    samples.reduce((sum, [at]) => sum + (at - x) ** 2, 0);
  return {
    minutes: round(samples.at(-1)[0]),
    start_mb: round(samples[0][1], 2),
    end_mb: round(samples.at(-1)[1], 2),
    most_mb: round(Math.max(...samples.map(([, mb]) => mb)), 2),
    slope_mb_per_min: round(slope, 3),
  };
}

/** From the end of the answer that changed a state to the frame that shows it. */
async function changes() {
  const wanted = number("CHANGES", 200);
  const page = await open("/?q=flip&sort=name", { width: 1280, height: 2000 });
  await loaded(page);
  const answers = async () => (await fetch(`${process.env.FLIP_URL}/answers`)).json();
  await until(
    `${wanted} changes`,
    async () => {
      const n = await page.evaluate(() => window.bench.states.filter(({ state }) => state !== "down").length);
      say(`${n} changes`);
      return n >= wanted;
    },
    { mostMs: (60 + wanted * 2) * 3_000, everyMs: 10_000 },
  );
  const { states: shown, tab } = await page.evaluate(() => ({ states: window.bench.states, tab: window.bench.tab }));
  const given = await answers();
  const snapshot = await must("GET", "/live/snapshot");
  const urls = new Map(snapshot.items.map((item) => [item.id, new URL(item.url).pathname]));
  const took = [];
  const told = { title: [], icon: [] };
  for (const { id, state, at } of shown) {
    // The newest answer of that kind before it: the prober asks twice before it says down.
    const answer = given.filter((a) => a.path === urls.get(id) && a.state === state && a.at < at).at(-1);
    if (answer) took.push({ state, ms: at - answer.at });
    if (!answer || state !== "down") continue;
    // The tab counts those that are down, so it says this one as soon as it says anything new, in the row's frame or soon after.
    for (const [what, ms] of Object.entries(told)) {
      const first = tab.find((one) => one.what === what && one.at >= at - FRAME_MS);
      if (first && first.at - at < SOON_MS) ms.push(first.at - answer.at);
    }
  }
  const of = (values) => ({
    changes: values.length,
    p50_ms: round(quantile(values, 0.5)),
    p99_ms: round(quantile(values, 0.99)),
    most_ms: worst([0, ...values]),
  });
  const ms = (down) => took.filter(({ state }) => (state === "down") === down).map((change) => change.ms);
  const said = Object.entries(told).filter(([, all]) => all.length > 0);
  return {
    ...of(ms(false)),
    to_down: { ...of(ms(true)), ...Object.fromEntries(said.map(([what, all]) => [what, of(all)])) },
  };
}

/** Ten thousand targets: the first data, and what people do with all of them. */
async function many() {
  const opened = await loads(number("LOADS", 9));
  say(`many: ${JSON.stringify(opened)}`);
  const page = await open("/");
  await loaded(page);
  await sleep(5);
  const snapshot = await must("GET", "/live/snapshot");
  const texts = snapshot.items.map((item) => `${item.name} ${item.url}`.toLowerCase());
  const rows = (n) => `document.querySelector(".rows li")?.getAttribute("aria-setsize") == ${n || null}`;
  const took = { search: [], filter: [], sort: [], select: [], pause: [] };
  const act = async (kind, what, done) => {
    await page.evaluate(`window.bench.await(() => ${done})`);
    await what();
    const ms = await page.evaluate(() => window.bench.answer);
    took[kind].push(ms);
    say(`${kind}: ${ms.toFixed(1)} ms`);
    await sleep(0.3);
  };
  const search = page.getByRole("searchbox");
  const tile = (name) => page.locator(".strip").getByRole("button", { name });
  for (let turn = 0; turn < 3; turn++) {
    await search.focus();
    let text = "";
    for (const key of "n/777") {
      text += key;
      const n = texts.filter((one) => one.includes(text)).length;
      const done = `${rows(n)} && document.activeElement.value === ${JSON.stringify(text)}`;
      await act("search", () => page.keyboard.press(key), done);
    }
    await page.keyboard.press("ControlOrMeta+a");
    await act("search", () => page.keyboard.press("Backspace"), rows(snapshot.items.length));
    await page.locator("h1").click();
    for (const [name, state] of [
      ["Down", "down"],
      ["Up", "up"],
    ]) {
      const pressed = `document.querySelector(".strip .s-${state}[aria-pressed=true]")`;
      const told = `document.querySelector(".strip .s-${state} b").textContent.replace(/\\D/g, "")`;
      const shows = `document.querySelector(".rows li").getAttribute("aria-setsize") === ${told}`;
      await act("filter", () => tile(name).click(), `${pressed} && ${shows}`);
      await act("filter", () => tile(name).click(), rows(snapshot.items.length));
    }
    for (const order of ["name", "slow", "state"]) {
      const box = ".sort select:has([value=slow])";
      const done = `document.querySelector("${box}").value === "${order}" && location.search.includes("${order}")`;
      await act("sort", () => page.locator(box).selectOption(order), done);
    }
  }
  const bar = page.getByRole("region", { name: "Selected targets" });
  const chosen = (n) => `document.querySelector(".bulk b")?.textContent.replace(/\\D/g, "") === "${n}"`;
  const bulk = "document.querySelector('.bulk')";
  const progress = "document.querySelector('.bulk progress')";
  for (let turn = 0; turn < 3; turn++) {
    await act("select", () => page.locator(".rows .pick").first().click(), chosen(1));
    await act("select", () => bar.getByRole("button", { name: /^Select all/ }).click(), chosen(snapshot.items.length));
    if (turn < 2) await act("select", () => bar.getByRole("button", { name: "Select nothing" }).click(), `!${bulk}`);
  }
  await page.mouse.move(5, 5);
  await act("pause", () => bar.getByRole("button", { name: "Pause" }).click(), progress);
  const asked = Date.now();
  const paused = async () => (await must("GET", "/live/snapshot")).items.filter(({ active }) => !active).length;
  const over = () => page.waitForFunction(() => !document.querySelector(".bulk progress"), null, { polling: 50 });
  const said = over().then(() => Date.now() - asked);
  const during = await watched(page, number("SECONDS", 10));
  const done_ms = await said;
  const figures = Object.fromEntries(Object.entries(took).map(([kind, ms]) => [`${kind}_ms`, worst(ms)]));
  return {
    targets: snapshot.items.length,
    ...opened,
    ...figures,
    while_pausing: { ...during, paused: await paused(), done_ms },
  };
}
