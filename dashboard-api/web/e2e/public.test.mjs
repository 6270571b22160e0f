// A public status page that is left open: it hears of changes by a websocket, by a stream of events or by asking,
// whatever gets through, and says that nothing is known when nothing does.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import {
  axeViolations,
  must,
  overflow,
  settings,
  shoot,
  signIn,
  startBrowser,
  unlessSignedOut,
  until,
  watchPage,
} from "./harness.mjs";
import { startProxy } from "./proxy.mjs";

const run = Date.now().toString(36);
const slug = `open-${run}`;
let browser;
let proxy;
let made;

before(async () => {
  [browser, proxy] = await Promise.all([startBrowser(), startProxy(settings.base)]);
  await signIn(browser);
  const hotline = { name: "Hotline", rule: "manual", state: "up" };
  made = await must("POST", "/status-pages", {
    slug,
    title: `Open ${run}`,
    published: true,
    groups: [{ name: "Services", components: [hotline, { ...hotline, name: "Counter" }] }],
  });
});
after(async () => {
  if (made) await must("DELETE", `/status-pages/${made.id}`);
  await browser?.close();
  await proxy?.close();
});

beforeEach(() => proxy.restore());

/** What the operator says of the hotline. */
async function say(state) {
  const [group] = (await must("GET", `/status-pages/${made.id}`)).groups;
  const components = group.components.map(({ id, name, rule, state }) => ({ id, name, rule, state }));
  components[0].state = state;
  await must("PATCH", `/status-pages/${made.id}`, { groups: [{ name: group.name, components }] });
}

/** Somebody who opens the page through the proxy, with a clock that can be put forward. */
async function opened(path, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(30_000);
  const asked = { socket: 0, stream: 0, poll: 0 };
  page.on("websocket", () => asked.socket++);
  page.on("request", (request) => {
    if (request.url().endsWith("/events")) asked.stream++;
    if (request.url().endsWith("/state.json")) asked.poll++;
  });
  const trouble = watchPage(page);
  await page.clock.install();
  await page.goto(proxy.url + path);
  await page.locator("#systems .state").first().waitFor();
  await page.evaluate(() => {
    window.sameDocument = true;
  });
  return { context, page, asked, trouble };
}
/** What the page says of its components. */
const states = async (page) => (await page.locator("#systems .state").allInnerTexts()).map((text) => text.trim());
const banner = async (page, state) => {
  await page.locator(`#banner.${state}:has(use[href="#i-${state}"])`).waitFor();
  await page.locator(`link[rel=icon][href*="/icon-${state}.svg?"]`).waitFor({ state: "attached" });
};
/** Puts the clock of a page that is cut off forward until it knows nothing: what came before the cut may be read after it. */
const forget = (page) =>
  until("it knows nothing", async () => {
    await page.clock.fastForward(60_000);
    return page.locator("#banner.no_data").isVisible();
  });
/** Whether the icon of the tab is there now. */
const drawn = (page) =>
  page.evaluate(async () => {
    const icon = new Image();
    icon.src = document.querySelector("link[rel=icon]").href;
    return icon.decode().then(
      () => true,
      () => false,
    );
  });

test("cut off, a page says that nothing is known, until it is answered again", async () => {
  const { context, page, asked } = await opened(`/s/${slug}`);
  await banner(page, "up");
  await until("it reads by a websocket", () => asked.socket === 1 && asked.poll > 0);
  const before = asked.poll;
  await page.clock.fastForward(30_000);
  await page.clock.fastForward(30_000);
  await until("after a minute without a word it asks", () => asked.poll > before);
  await page.locator("p.cut").waitFor({ state: "detached" }); // what it is answered is evidence

  proxy.cut();
  const cutAt = Date.now();
  await page.clock.fastForward(40_000);
  await banner(page, "up");
  await page.clock.fastForward(10_000);
  await banner(page, "no_data");
  assert.ok(Date.now() - cutAt < 40_000, "the clock was put forward, not waited for");
  await page.getByText("There is no current data", { exact: true }).waitFor();
  await page.locator("p.cut", { hasText: "lost its connection" }).waitFor();
  assert.equal(await page.title(), `Open ${run}: There is no current data`);
  assert.equal(await page.locator(".up").count(), 0, "nothing is green");
  assert.equal(await drawn(page), true, "the icon of that needs no connection");
  assert.deepEqual(await states(page), ["No data", "No data"]);
  assert.equal(await page.getByText("stated by the operator").filter({ visible: true }).count(), 0);
  assert.deepEqual(await axeViolations(page), []);
  await shoot(page, "public-cut-1280", true);
  await page.setViewportSize({ width: 390, height: 844 });
  assert.equal(await overflow(page), 0);
  await shoot(page, "public-cut-390", true);

  proxy.restore();
  await page.clock.fastForward(10_000);
  await banner(page, "up");
  assert.equal(await page.locator("p.cut").count(), 0);
  assert.equal(await page.title(), `Open ${run}: All systems are operational`);
  const stated = "Operational stated by the operator";
  assert.deepEqual(await states(page), [stated, stated]);

  proxy.cut();
  await forget(page);
  await banner(page, "no_data");
  await say("down");
  proxy.restore();
  await page.clock.fastForward(10_000);
  await banner(page, "down");
  assert.equal(await page.title(), `Open ${run}: Some systems are down`);
  assert.equal(await page.locator("p.cut").count(), 0);
  assert.equal(await page.evaluate(() => window.sameDocument), true, "it was never loaded anew");
  await context.close();
  await say("up");
});

test("the same from right to left", async () => {
  const { context, page } = await opened(`/s/${slug}?lang=ar`, { viewport: { width: 390, height: 844 } });
  await banner(page, "up");
  proxy.cut();
  await forget(page);
  await banner(page, "no_data");
  await page.locator("html[dir=rtl] p.cut").waitFor();
  assert.equal(await overflow(page), 0);
  await shoot(page, "public-cut-ar-390", true);
  proxy.restore();
  await context.close();
});

test("an old document out of a cache is not believed", async () => {
  const context = await browser.newContext();
  const page = await context.newPage();
  page.setDefaultTimeout(30_000);
  await page.clock.install();
  const measured =
    '<span id="age" data-rel="Updated {0}" data-at="2026-03-01T10:00:00Z"></span> <time id="at" datetime="2026-03-01T10:00:00Z">2026-03-01 10:00:00</time>';
  await page.route(`**/s/${slug}`, async (route) => {
    const response = await route.fetch();
    const hourAgo = new Date(Date.now() - 3_600_000).toISOString();
    const body = (await response.text())
      .replace(/data-made="[^"]*"/, `data-made="${hourAgo}"`)
      .replace(/<span id="age".*?<\/span>/, measured);
    await route.fulfill({ response, body });
  });
  await page.route(`**/s/${slug}/state.json`, (route) => route.abort());
  proxy.cutLive();
  await page.goto(`${proxy.url}/s/${slug}`);
  await banner(page, "no_data");
  await page.getByText("2026-03-01 10:00:00").waitFor();

  await page.unroute(`**/s/${slug}/state.json`);
  await page.route(`**/s/${slug}/state.json`, async (route) => {
    const response = await route.fetch();
    const json = { ...(await response.json()), evidence_at: "2026-03-01T11:59:55.123Z" };
    await route.fulfill({ response, json });
  });
  await page.clock.fastForward(10_000);
  await banner(page, "up"); // what it is answered now is evidence
  assert.equal(await page.locator("#at").innerText(), "2026-03-01 11:59:55");
  assert.equal(await page.locator("#at").getAttribute("datetime"), "2026-03-01T11:59:55.123Z");
  await context.close();
});

test("what changed, but cannot be loaded, is not known", async () => {
  const { context, page, asked } = await opened(`/s/${slug}`);
  await until("it reads by a websocket", () => asked.socket === 1 && asked.poll > 0);
  await page.route(`**/s/${slug}`, (route) => route.fulfill({ status: 503, body: "" }));
  const refused = page.waitForResponse((response) => response.status() === 503);
  await say("down");
  await refused;
  await banner(page, "up");
  await page.clock.fastForward(60_000);
  await banner(page, "no_data");
  await page.unroute(`**/s/${slug}`);
  await page.clock.fastForward(10_000);
  await banner(page, "down");
  await context.close();
  await say("up");
});

test("without websockets a stream of events brings what changes, without any of the two asking does", async () => {
  proxy.cutSockets();
  const { context, page, asked, trouble } = await opened(`/s/${slug}`);
  await banner(page, "up");
  const unhurried = { everyMs: 500 }; // what is answered meanwhile has time to arrive
  const reads = async () => {
    await page.clock.fastForward(2_000); // it tries websockets a few times
    return asked.stream === 1 && asked.poll > 0;
  };
  await until("it reads a stream", reads, unhurried);
  const polled = asked.poll;
  await say("down");
  await banner(page, "down");
  assert.deepEqual([asked.stream, asked.poll], [1, polled], "the stream told it");

  proxy.cutLive();
  await until("it asks by itself", async () => {
    await page.clock.fastForward(5_000);
    return asked.poll > polled + 2;
  });
  const streams = asked.stream;
  await say("up");
  const brought = async () => {
    await page.clock.fastForward(11_000);
    return (await page.locator("#banner.up").count()) === 1;
  };
  await until("asking brings it", brought, unhurried);
  assert.equal(await page.locator("p.cut").count(), 0, "who is answered is not cut off");
  assert.equal(asked.stream, streams);

  proxy.restore();
  const sockets = asked.socket;
  await page.clock.fastForward(6 * 60_000);
  await until("it finds back to a websocket", () => asked.socket > sockets);
  await say("degraded");
  await banner(page, "degraded");
  assert.equal(await page.evaluate(() => window.sameDocument), true, "it was never loaded anew");
  assert.deepEqual(
    trouble.filter(unlessSignedOut).filter((line) => !/WebSocket|Failed to load|ERR_/.test(line)),
    [],
  );
  await context.close();
  await say("up");
});
