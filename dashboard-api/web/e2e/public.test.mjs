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
  tabTo,
  unlessSignedOut,
  until,
  verifyOnly,
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
  const asked = { socket: 0, streams: [], poll: 0 };
  page.on("websocket", () => asked.socket++);
  page.on("request", (request) => {
    if (new URL(request.url()).pathname.endsWith("/events")) asked.streams.push(request.url());
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

// Promise: no status page is green while it is cut off
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
  // From here on its time is put forward, and does not pass.
  await page.clock.pauseAt(await page.evaluate(() => Date.now() + 2_000));
  await page.clock.fastForward(30_000);
  await banner(page, "up");
  await page.clock.fastForward(20_000);
  await banner(page, "no_data");
  await page.clock.resume();
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
  await say("down"); // nobody listens to the page: no frame is made of that
  await until("the server has read what was written", async () => {
    const document = await fetch(new URL(`/s/${slug}?lang=en`, settings.base));
    return (await document.text()).includes("Some systems are down");
  });
  await page.evaluate(() => {
    window.seen = [];
    const look = () => window.seen.push(document.getElementById("banner")?.className);
    new MutationObserver(look).observe(document.body, { subtree: true, childList: true, attributes: true });
  });
  proxy.restore();
  await page.clock.fastForward(10_000);
  await banner(page, "down");
  const seen = await page.evaluate(() => window.seen.filter((name) => / up\b/.test(name)));
  assert.deepEqual(seen, [], "what it showed before it was cut off is not shown again");
  assert.equal(await page.title(), `Open ${run}: Some systems are down`);
  assert.equal(await page.locator("p.cut").count(), 0);
  assert.equal(await page.evaluate(() => window.sameDocument), true, "it was never loaded anew");
  await context.close();
  await say("up");
});

test("a pointer on a tick is told which days it is of, without a script", verifyOnly, async () => {
  const target = await must("POST", "/targets", { name: `days ${run}`, url: settings.base.href, interval_s: 60 });
  const watched = { name: "Site", rule: "worst", target_ids: [target.id] };
  const days = `days-${run}`;
  const groups = [{ name: "", components: [watched] }];
  const page = await must("POST", "/status-pages", { slug: days, title: "Days", published: true, groups });
  const bare = await browser.newPage({ javaScriptEnabled: false, viewport: { width: 390, height: 844 } });
  await until("it has its days", async () => {
    await bare.goto(new URL(`/s/${days}?lang=en`, settings.base).href);
    return (await bare.locator("svg.ticks").count()) === 1;
  });
  const day = (ago) => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10);
  const at = (part) =>
    bare.locator("svg.ticks").evaluate((svg, part) => {
      const { left, top, width, height } = svg.getBoundingClientRect();
      const x = left + part * width;
      return document.elementFromPoint(x, top + height - 1).closest("rect")?.textContent;
    }, part);
  assert.match(await at(0.005), new RegExp(`^${day(89)} to .* · No data$`), "also between the marks, and below them");
  assert.match(await at(0.5), / · No data$/);
  await bare.locator("summary", { hasText: "Days that were different" }).click();
  await bare.getByRole("row", { name: new RegExp(`^${day(89)} to ${day(1)}|^${day(89)} to ${day(0)}`) }).waitFor();
  assert.equal(await overflow(bare), 0);
  await bare.close();
  await must("DELETE", `/status-pages/${page.id}`);
  await must("DELETE", `/targets/${target.id}`);
});

test("the same from right to left", verifyOnly, async () => {
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

test("an old document out of a cache is not believed", verifyOnly, async () => {
  const context = await browser.newContext();
  const page = await context.newPage();
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

test("what changed, but cannot be loaded, is not known", verifyOnly, async () => {
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
    return asked.streams.length === 1 && asked.poll > 0;
  };
  await until("it reads a stream", reads, unhurried);
  const polled = asked.poll;
  await say("down");
  await banner(page, "down");
  assert.deepEqual([asked.streams.length, asked.poll], [1, polled], "the stream told it");

  proxy.cutLive();
  await until("it asks by itself", async () => {
    await page.clock.fastForward(5_000);
    return asked.poll > polled + 2;
  });
  const streams = asked.streams.length;
  await say("up");
  const brought = async () => {
    await page.clock.fastForward(11_000);
    return (await page.locator("#banner.up").count()) === 1;
  };
  await until("asking brings it", brought, unhurried);
  assert.equal(await page.locator("p.cut").count(), 0, "who is answered is not cut off");
  assert.equal(asked.streams.length, streams);

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

test("a stream that breaks off is opened again where it was, and brings what was missed", verifyOnly, async () => {
  proxy.cutSockets();
  const { context, page, asked } = await opened(`/s/${slug}`);
  const reads = async () => {
    await page.clock.fastForward(2_000); // it tries websockets a few times
    return asked.streams.length === 1 && asked.poll > 0;
  };
  await until("it reads a stream", reads, { everyMs: 500 });
  await say("down");
  await banner(page, "down");

  await page.route("**/state.json", (route) => route.abort()); // the stream alone can tell it
  proxy.cut();
  await say("up");
  proxy.cutSockets();
  await banner(page, "up");
  const [first, ...later] = asked.streams.map((url) => new URL(url).searchParams.get("from"));
  assert.equal(first, null);
  assert.ok(later.length > 0);
  for (const from of later) assert.match(from, /^\w+\.\d+\.$/);
  assert.equal(await page.evaluate(() => window.sameDocument), true, "it was never loaded anew");
  await context.close();
});

/** An instant as pages write it. */
const written = (at, timeZone) =>
  new Intl.DateTimeFormat("sv", { timeZone, dateStyle: "short", timeStyle: "short" }).format(new Date(at));

test("a reader chooses theme and time zone, and has them kept", verifyOnly, async () => {
  const chosen = await must("POST", "/status-pages", {
    slug: `chosen-${run}`,
    title: `Chosen ${run}`,
    published: true,
    theme: "light",
    zone: "Europe/Berlin",
    accent: "#7a1fa2", // each can be read on its own theme alone
    accent_dark: "#d7a6ff",
    groups: [{ name: "Services", components: [{ name: "Hotline", rule: "manual", state: "up" }] }],
  });
  const path = `/s/${chosen.slug}`;
  const post = await must("POST", `/status-pages/${chosen.id}/posts`, {
    kind: "incident",
    component_ids: [1],
    title: "Slow",
    text: "We [look](https://example.com/).",
  });
  const { context, page, trouble } = await opened(path, { colorScheme: "dark", timezoneId: "America/New_York" });
  await context.addInitScript(() => {
    new MutationObserver(() => {
      if (document.body) window.firstTheme ??= document.documentElement.dataset.theme;
    }).observe(document, { childList: true, subtree: true });
  });
  const [theme, zone] = [page.getByLabel("Theme"), page.getByLabel("Time zone")];
  const surface = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const link = () => page.locator(".event a").evaluate((a) => getComputedStyle(a).color);
  const inZone = async (timeZone) => {
    for (const time of await page.locator(".event time").all())
      assert.equal(await time.textContent(), written(await time.getAttribute("datetime"), timeZone));
  };
  const looks = async (name) => {
    assert.deepEqual(await axeViolations(page), []);
    await page.setViewportSize({ width: 390, height: 844 });
    await shoot(page, `public-${name}-390`, true);
    await page.setViewportSize({ width: 1280, height: 860 });
    await shoot(page, `public-${name}-1280`, true);
  };
  const [white, black] = ["rgb(244, 246, 248)", "rgb(10, 16, 23)"];
  assert.equal(await theme.inputValue(), "light", "the page's own");
  assert.equal(await zone.inputValue(), "page");
  assert.deepEqual([await surface(), await link()], [white, "rgb(122, 31, 162)"]);
  await inZone("Europe/Berlin");
  await page.getByText("Times are in Europe/Berlin.").waitFor();
  await looks("chosen-light");

  await tabTo(page, zone);
  await page.keyboard.press("ArrowDown");
  await page.getByText("Times are in UTC, days are those of Europe/Berlin.").waitFor();
  await inZone("UTC");
  await page.keyboard.press("ArrowDown");
  await page.getByText("Times are in America/New_York, days are those of Europe/Berlin.").waitFor();
  await inZone("America/New_York");
  await page.keyboard.press("Tab");
  await page.keyboard.press("ArrowDown");
  assert.equal(await theme.inputValue(), "dark");
  assert.deepEqual([await surface(), await link()], [black, "rgb(215, 166, 255)"]);
  await looks("chosen-dark");

  // What is told meanwhile is written as it was chosen, and the keyboard stays where it is.
  const events = page.locator(".event .updates > li");
  assert.equal(await events.count(), 1);
  await must("POST", `/status-pages/${chosen.id}/posts/${post.id}/updates`, { state: "monitoring", text: "Better." });
  await until("it is told", async () => {
    await page.clock.fastForward(2_000);
    return (await events.count()) === 2;
  });
  await inZone("America/New_York");
  assert.equal(await surface(), black);
  assert.equal(await theme.evaluate((select) => select === document.activeElement), true);
  assert.equal(await page.evaluate(() => window.sameDocument), true, "it was never loaded anew");

  await page.reload();
  assert.equal(await page.evaluate(() => window.firstTheme), "dark", "no other was seen first");
  assert.deepEqual([await theme.inputValue(), await zone.inputValue()], ["dark", "browser"]);
  await inZone("America/New_York");
  await theme.selectOption("auto");
  assert.equal(await surface(), black);
  await page.emulateMedia({ colorScheme: "light" });
  assert.equal(await surface(), white);
  await zone.selectOption("page");
  await inZone("Europe/Berlin");
  await page.getByText("Times are in Europe/Berlin.").waitFor();

  // One page of the host is as the other, in every language, also where UTC is the page's own zone.
  await zone.selectOption("utc");
  await page.setViewportSize({ width: 360, height: 780 });
  const codes = await page.locator(".langs a").evaluateAll((all) => all.map((a) => a.lang));
  assert.ok(codes.length >= 12);
  for (const lang of codes) {
    await page.goto(`${proxy.url}${path}?lang=${lang}`);
    await page.locator(".choices select").first().waitFor();
    assert.equal(await overflow(page), 0, lang);
    await inZone("UTC");
    if (lang === "ar") await shoot(page, "public-chosen-ar-360", true);
  }
  await page.goto(`${proxy.url}/s/${slug}`);
  assert.deepEqual([await theme.inputValue(), await zone.inputValue()], ["auto", "page"]);
  await page.getByText("Times are in UTC.").waitFor();
  assert.deepEqual(trouble.filter(unlessSignedOut), []);
  await context.close();

  // A browser that keeps nothing is asked again. Without scripts there is nothing to choose by.
  const forgetful = await browser.newContext();
  await forgetful.addInitScript(() =>
    Object.defineProperty(window, "localStorage", {
      get: () => {
        throw new DOMException("blocked", "SecurityError");
      },
    }),
  );
  const [other, bare] = [await forgetful.newPage(), await browser.newPage({ javaScriptEnabled: false })];
  const problems = watchPage(other);
  await other.goto(proxy.url + path);
  await other.getByLabel("Theme").selectOption("dark");
  await other.locator("html[data-theme=dark]").waitFor();
  await other.reload();
  assert.equal(await other.getByLabel("Theme").inputValue(), "light");
  assert.deepEqual(problems, []);
  await bare.goto(proxy.url + path);
  await bare.getByText("Times are in Europe/Berlin.").waitFor();
  assert.equal(await bare.locator("select").filter({ visible: true }).count(), 0);
  await bare.close();
  await forgetful.close();
  await must("DELETE", `/status-pages/${chosen.id}`);
});

test("forms and refusals are in the theme that was chosen on the page", verifyOnly, async () => {
  const page = { title: `Forms ${run}`, published: true, theme: "light", subscribe_webhook: true };
  const open = await must("POST", "/status-pages", { ...page, slug: `forms-${run}` });
  const closed = await must("POST", "/status-pages", { ...page, slug: `shut-${run}`, password: settings.password });
  const paths = [
    `/s/${open.slug}/subscribe`,
    "/s/-/confirm/old",
    "/s/-/unsubscribe/old",
    `/s/${open.slug}/none`,
    `/s/${open.slug}-none`,
    `/s/${closed.slug}`,
  ];
  const surface = (of) => of.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const context = await browser.newContext({ colorScheme: "light" });
  await context.addInitScript(() => {
    new MutationObserver(() => {
      if (document.body) window.firstTheme ??= document.documentElement.dataset.theme;
    }).observe(document, { childList: true, subtree: true });
  });
  const reader = await context.newPage();
  const trouble = watchPage(reader);
  const bare = await browser.newPage({ javaScriptEnabled: false, colorScheme: "light" });
  for (const [theme, colour] of [
    ["dark", "rgb(10, 16, 23)"],
    ["light", "rgb(244, 246, 248)"],
  ]) {
    await reader.goto(`${proxy.url}/s/${open.slug}`);
    await reader.getByLabel("Theme").selectOption(theme);
    for (const path of paths) {
      await reader.goto(proxy.url + path);
      assert.equal(await surface(reader), colour, path);
      assert.equal(await reader.evaluate(() => window.firstTheme), theme, `${path}: no other was seen first`);
      if (theme === "dark") assert.deepEqual(await axeViolations(reader), [], path);
      await bare.goto(proxy.url + path);
      assert.equal(await surface(bare), "rgb(244, 246, 248)", `${path}: without scripts it is the page's`);
    }
    if (theme === "dark") await shoot(reader, "public-password-chosen-dark", true);
  }
  assert.deepEqual(
    trouble.filter((line) => !/status of 40[14]/.test(line)),
    [],
  );
  await bare.close();
  await context.close();
  for (const { id } of [open, closed]) await must("DELETE", `/status-pages/${id}`);
});
