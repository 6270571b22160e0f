// What the browser tests share: settings, the browser, the API, a lab to watch.
import { createHmac } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

function needed(name, what) {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: ${what}`);
  return value;
}

export const settings = {
  base: new URL(needed("BASE_URL", "the address of a running dashboard, such as http://localhost:8080")),
  apiKey: needed("API_KEY", "a key of the same installation that may write (its BOOTSTRAP_API_KEY)"),
  setupLink: process.env.SETUP_LINK ?? "",
  email: process.env.E2E_EMAIL ?? "owner@example.com",
  password: process.env.E2E_PASSWORD ?? "correct horse battery staple",
  redisURL: process.env.REDIS_URL ?? "",
  goneRegion: process.env.GONE_REGION ?? "",
};

/** SHORT=1: each promise once. What is long by nature is left to `make verify`, which runs without it. */
export const short = process.env.SHORT === "1";

/** Options of a test that only `make verify` runs. */
export const verifyOnly = { skip: short && "make verify" };

/** A target that is checked as often as programs that are built for tests accept, and may answer late on a busy machine. */
export const often = { interval_s: 2, timeout_ms: 10_000 };

// What is waited for longer hangs. What is late is found out by what measures, not here.
const hangMs = 180_000;

const shots = fileURLToPath(new URL("./shots/", import.meta.url));
const axe = readFileSync(fileURLToPath(new URL("../node_modules/axe-core/axe.min.js", import.meta.url)), "utf8");

// Chromium's shell first: the same engine without what is around a page (an address bar, its suggestions, a profile),
// which makes a new window cost a fifth.
const browsers = ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium", "/usr/bin/chromium-browser"];

export async function startBrowser() {
  await mkdir(shots, { recursive: true });
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? browsers.find(existsSync),
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic"],
  });
  const newContext = browser.newContext.bind(browser);
  browser.newContext = async (options) => {
    const context = await newContext(options);
    context.setDefaultTimeout(hangMs);
    const close = context.close.bind(context);
    context.close = async () => {
      // What is fetched for a changed answer still would fail by itself, in no test.
      await Promise.all(context.pages().map((page) => page.unrouteAll({ behavior: "ignoreErrors" })));
      await close();
    };
    return context;
  };
  return browser;
}

/** How pages are looked at; in the last one the system chooses the colours, and wants nothing to move. */
const everyMode = [
  { name: "1280-light", viewport: { width: 1280, height: 860 }, colorScheme: "light" },
  { name: "1280-dark", viewport: { width: 1280, height: 860 }, colorScheme: "dark" },
  { name: "390-light", viewport: { width: 390, height: 844 }, colorScheme: "light" },
  {
    name: "forced-colours",
    viewport: { width: 1280, height: 860 },
    colorScheme: "light",
    forcedColors: "active",
    reducedMotion: "reduce",
  },
];
export const modes = short ? everyMode.slice(0, 1) : everyMode;

/** The API, with the key: what the page shows is compared with what it answers. */
export async function api(method, path, body) {
  const response = await fetch(new URL(`/api/v1${path}`, settings.base), {
    method,
    headers: {
      authorization: `Bearer ${settings.apiKey}`,
      ...(body ? { "content-type": "application/json" } : {}),
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  const text = await response.text();
  return { status: response.status, body: text ? JSON.parse(text) : null };
}

const watched = new Set(); // targets of this file

/** The same, where it has to be done; what is to be deleted may be gone already. */
export async function must(method, path, body) {
  const answer = await api(method, path, body);
  if (method === "POST" && path === "/targets" && answer.status === 201) watched.add(answer.body.id);
  if (answer.status >= 400 && !(method === "DELETE" && answer.status === 404)) {
    const error = new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    throw Object.assign(error, { status: answer.status });
  }
  return answer.body;
}

export async function targetByUrl(url) {
  for (let cursor = ""; ; ) {
    const page = await must("GET", `/targets?limit=200${cursor && `&cursor=${encodeURIComponent(cursor)}`}`);
    const found = page.items.find((target) => target.url === url);
    if (found || !page.next_cursor) return found;
    cursor = page.next_cursor;
  }
}

/**
 * Waits until `check` gives something truthy; the message says what was awaited. An answer 503 asks to come again: a
 * store is slow.
 */
export async function until(what, check, { mostMs = hangMs, everyMs = 100 } = {}) {
  const deadline = Date.now() + mostMs;
  for (;;) {
    let busy = "";
    try {
      const value = await check();
      if (value) return value;
    } catch (error) {
      if (error.status !== 503) throw error;
      busy = `, ${error.message}`;
    }
    if (Date.now() > deadline) throw new Error(`waited ${mostMs / 1000} s for: ${what}${busy}`);
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}

/** Something to watch: LAB_URL, or a small server of our own on the loopback interface. */
export async function startLab() {
  if (process.env.LAB_URL) return { url: process.env.LAB_URL.replace(/\/$/, ""), close: async () => {} };
  const server = createServer((request, response) => {
    const status = Number(/^\/status\/(\d{3})/.exec(request.url)?.[1] ?? 200);
    response.writeHead(status, { "content-type": "text/plain" }).end("ok");
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Collects what must not happen on any page. */
export function watchPage(page) {
  const trouble = [];
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning")
      trouble.push(`${message.type()}: ${message.text()}`);
  });
  page.on("pageerror", (error) => trouble.push(`uncaught: ${error.message}`));
  return trouble;
}

/** Leaves out what the browser says by itself of an answer 401: so the page learns that nobody is signed in. */
export const unlessSignedOut = (line) => !/the server responded with a status of 401/.test(line);

/** Leaves out what the browser says by itself of a form that was sent with a mistake in it. */
export const unlessRefused = (line) => !/the server responded with a status of 422/.test(line);

/** Waits until colours and places have changed, 20 s at most; what moves without an end is not waited for. */
const atRest = (page) =>
  page.evaluate(async () => {
    const deadline = performance.now() + 20_000;
    const frame = () => new Promise(requestAnimationFrame);
    const moves = ({ playState, effect }) =>
      playState === "running" && Number.isFinite(effect.getComputedTiming().endTime);
    await frame(); // a change that was just made begins with it
    do await frame();
    while (document.getAnimations().some(moves) && performance.now() < deadline);
  });

/** Accessibility violations of the page at rest, one line each. In short only what is looked at always is looked at. */
export async function axeViolations(page, { always = false } = {}) {
  if (short && !always) return [];
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(axe);
  await atRest(page);
  return page.evaluate(async () => {
    // Only what is wrong is told, and by its own text: what passes needs no selectors.
    const { violations } = await window.axe.run({ resultTypes: ["violations"], selectors: false });
    return violations.map((v) => `${v.id}: ${v.nodes.map((node) => node.html.slice(0, 160)).join(" | ")}`);
  });
}

export const overflow = (page) =>
  page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

/** What reaches furthest to the end of the page: where to look when it overflows. */
const furthest = (page) =>
  page.evaluate(() => {
    const end = (node) => node.getBoundingClientRect()[document.dir === "rtl" ? "left" : "right"];
    const sign = document.dir === "rtl" ? -1 : 1;
    const all = [...document.querySelectorAll("body *")].sort((a, b) => sign * (end(b) - end(a)));
    return all.slice(0, 3).map((node) => `${node.nodeName}.${node.getAttribute("class")} to ${Math.round(end(node))}`);
  });

/** A picture for a person to look at, with SHOTS=1; of what fails there is always one. */
export const shoot = (page, name, fullPage = false) =>
  process.env.SHOTS || /failed/.test(name) ? page.screenshot({ path: `${shots}${name}.png`, fullPage }) : undefined;

/** Signs in, after making the account when there is none; gives the cookies. */
export async function signIn(browser) {
  const session = await fetch(new URL("/api/v1/session", settings.base));
  if ((await session.json()).setup_needed) {
    const token = new URL(needed("SETUP_LINK", "the installation has no account yet")).searchParams.get("token");
    const body = JSON.stringify({ token, email: settings.email, name: "Owner", password: settings.password });
    const headers = { "content-type": "application/json" };
    const made = await fetch(new URL("/api/v1/setup", settings.base), { method: "POST", headers, body });
    if (!made.ok) throw new Error(`set-up: ${made.status} ${await made.text()}`);
  }
  const context = await browser.newContext();
  const answer = await context.request.post(new URL("/api/v1/session", settings.base).href, {
    data: { email: settings.email, password: settings.password },
  });
  if (!answer.ok()) throw new Error(`sign-in: ${answer.status()} ${await answer.text()}`);
  const state = await context.storageState();
  await context.close();
  return state;
}

/** Signs in by the form of the login page that is open. */
export async function enter(page, email, password) {
  await page.getByLabel("E-mail").fill(email);
  await page.getByLabel("Password").fill(password);
  await page.keyboard.press("Enter");
}

/** Somebody with an account of their own, and the usual password; gives the cookies. */
export async function invited(browser, email, name, role = "editor") {
  await signIn(browser); // makes the owner when there is none
  const { token } = await must("POST", "/invitations", { role, email });
  await must("POST", "/invitations:accept", { token, name, password: settings.password });
  const { context, page } = await openPage(browser, undefined, "/login");
  await enter(page, email, settings.password);
  await page.getByRole("link", { name: "Settings" }).waitFor();
  const state = await context.storageState();
  await context.close();
  return state;
}

const opened = [];

// A test that fails says what there was to see then, in words: pictures stay on the machine it failed on. What
// measures is no test, and prints nothing but its figures.
if (process.env.NODE_TEST_CONTEXT) {
  const { after, afterEach } = await import("node:test");
  // What the file does not delete itself would be checked on and on.
  after(async () => {
    for (const id of watched) {
      const { status } = await api("DELETE", `/targets/${id}`);
      if (status === 409) await must("PATCH", `/targets/${id}`, { active: false }); // others depend on it
    }
  });
  afterEach(async ({ name, passed }) => {
    for (const { page, trouble } of opened.splice(0)) {
      if (passed || page.isClosed()) continue;
      const seen = await page
        .evaluate(() => `focus on ${document.activeElement?.cloneNode().outerHTML}\n${document.body.innerText}`)
        .catch((error) => error.message);
      console.log([`${name}: ${page.url()}`, ...trouble, seen.slice(0, 2_000)].join("\n"));
      await shoot(page, `failed-${name.replace(/\W+/g, "-").slice(0, 60)}`).catch(() => {});
    }
  });
}

/** A page of a browser that is signed in, at a path. */
export async function openPage(browser, storageState, path, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, ...options, storageState });
  const page = await context.newPage();
  const trouble = watchPage(page);
  opened.push({ page, trouble });
  await page.goto(new URL(path, settings.base).href);
  return { context, page, trouble };
}

/** The code that an authenticator app shows for a secret, so many half minutes from now. */
export function codeOf(secret, steps = 0) {
  const bits = [...secret]
    .map((c) => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(c).toString(2).padStart(5, "0"))
    .join("");
  const key = Buffer.from(bits.match(/.{8}/g).map((byte) => Number.parseInt(byte, 2)));
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30_000) + steps));
  const sum = createHmac("sha1", key).update(counter).digest();
  const number = sum.readUInt32BE(sum.at(-1) & 15) & 0x7fffffff;
  return String(number % 1_000_000).padStart(6, "0");
}

/** The bar of a row as the page has it: how many slots, from when to when. */
export function bar(page, id) {
  return page.evaluate((target) => {
    const ticks = document.querySelector(`[data-row="${target}"]`)?.closest("li")?.querySelector("svg.ticks");
    if (!ticks) return null;
    const { count, from, to } = ticks.dataset;
    return { count: Number(count), from: Number(from), to: Number(to) };
  }, id);
}

/** The distinct slots the API has for a target in [from, to], in ms. */
export async function slotsOf(id, from, to) {
  const slots = new Set();
  let cursor = "";
  const span = `from=${new Date(from).toISOString()}&to=${new Date(to + 1).toISOString()}`;
  do {
    const page = await must(
      "GET",
      `/targets/${id}/results?${span}&limit=500${cursor && `&cursor=${encodeURIComponent(cursor)}`}`,
    );
    for (const row of page.items) slots.add(Date.parse(row.scheduled_at));
    cursor = page.next_cursor ?? "";
  } while (cursor);
  return [...slots].filter((at) => at >= from && at <= to).sort((a, b) => a - b);
}

/** Waits until nothing stands in for what was asked for: charts have their data. */
export const quiet = (page) => page.waitForFunction(() => !document.querySelector("main .skeleton"));

/** Walks with Tab until what has the focus is what is meant: so everything there is can be reached. */
export async function tabTo(page, what, most = 60) {
  for (let i = 0; i < most; i++) {
    if (await what.evaluate((element) => element === document.activeElement)) return;
    await page.keyboard.press("Tab");
  }
  throw new Error(`${what} was not reached with ${most} tabs`);
}

/** Waits until what was just changed has been drawn: what the test scrolls in the same frame would count as moved by the page. */
export const drawn = (page) =>
  page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));

/**
 * What moved by itself while the page was loaded, when it is more than the Core Web Vitals call
 * good (0.1 in all): how much, and what moved most.
 */
export const shifted = (page) =>
  page.evaluate(
    () =>
      new Promise((resolve) => {
        const all = [];
        new PerformanceObserver((list) => {
          for (const entry of list.getEntries()) if (!entry.hadRecentInput) all.push(entry);
        }).observe({ type: "layout-shift", buffered: true });
        const tell = () => {
          const sum = all.reduce((so, { value }) => so + value, 0);
          const said = all
            .sort((a, b) => b.value - a.value)[0]
            ?.sources.map(
              ({ node, previousRect: from, currentRect: to }) =>
                `${node?.nodeName}.${node?.className} ${from.top}+${from.height} to ${to.top}+${to.height}`,
            );
          resolve(sum > 0.1 ? `moved by ${sum.toFixed(2)} while it was loaded: ${said.join(", ")}` : "");
        };
        requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(tell, 100))); // what was just changed moves with the next frame
      }),
  );

/** What moves for longer than an instant. */
const moving = () =>
  document
    .getAnimations()
    .filter((one) => one.playState === "running" && one.effect.getComputedTiming().duration > 10)
    .map((one) => `${one.effect.target?.className} ${one.animationName ?? one.transitionProperty}`);

/** The modes that one load serves: how a page is loaded depends on its size, and not on its colours. */
const loads = [
  everyMode.filter(({ viewport }) => viewport.width >= 400),
  everyMode.filter(({ viewport }) => viewport.width < 400),
];

/**
 * Opens pages in every mode, and gives what is wrong with them. A page is a name, a path, and what to wait for or do
 * before it is looked at. Both sizes are gone through at once: a page waits for its programs as long as it works.
 * In short nothing is looked at: appearance.test.mjs has every page once.
 */
export async function inEveryMode(browser, storageState, pages) {
  if (short) return [];
  return (await Promise.all(loads.map((all) => inModes(browser, storageState, pages, all)))).flat();
}

/** What is wrong with a page as it is now, in every mode: one load serves all of them. In short it is not looked at. */
export async function asItIs(page, name) {
  const found = [];
  if (short) return found;
  for (const { name: mode, viewport, colorScheme, forcedColors = "none", reducedMotion = "no-preference" } of modes) {
    const say = (what) => found.push(`${name} ${mode}: ${what}`);
    await page.emulateMedia({ colorScheme, forcedColors, reducedMotion });
    await page.setViewportSize(viewport);
    for (const violation of await axeViolations(page)) say(violation);
    if ((await overflow(page)) > 0) say(`overflows by ${await overflow(page)} px: ${await furthest(page)}`);
    await shoot(page, `${name}-${mode}`);
  }
  await page.emulateMedia({ colorScheme: "light", forcedColors: "none", reducedMotion: "no-preference" });
  await page.setViewportSize(modes[0].viewport);
  return found;
}

async function inModes(browser, storageState, pages, all) {
  const found = [];
  const { viewport, colorScheme } = all[0];
  const context = await browser.newContext({ viewport, colorScheme, storageState });
  for (const [name, path, ready] of pages) {
    const page = await context.newPage();
    page.setDefaultTimeout(hangMs);
    const trouble = watchPage(page);
    const say = (what, modes = all) => found.push(...modes.map((mode) => `${name} ${mode.name}: ${what}`));
    try {
      await page.goto(new URL(path, settings.base).href);
      await ready(page);
      const shift = await shifted(page);
      if (shift) say(shift);
      for (const mode of all) {
        const { forcedColors = "none", reducedMotion = "no-preference" } = mode;
        await page.emulateMedia({ colorScheme: mode.colorScheme, forcedColors, reducedMotion });
        if ((await overflow(page)) > 0) say(`overflows by ${await overflow(page)} px`, [mode]);
        for (const violation of await axeViolations(page)) say(violation, [mode]);
        if (mode.reducedMotion) for (const what of await page.evaluate(moving)) say(`moves: ${what}`, [mode]);
        await shoot(page, `${name}-${mode.name}`, true);
      }
      if (viewport.width < 400) {
        await page.setViewportSize({ ...viewport, width: 360 });
        await until("charts to follow the width", async () => (await overflow(page)) <= 0, { mostMs: 20_000 }).catch(
          async () => say(`overflows at 360 by ${await overflow(page)} px: ${await furthest(page)}`),
        );
      }
    } catch (error) {
      say(error.message.split("\n")[0]);
      await shoot(page, `${name}-${viewport.width}-failed`);
    }
    for (const line of new Set(trouble)) say(line);
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await page.close();
  }
  await context.close();
  return found;
}
