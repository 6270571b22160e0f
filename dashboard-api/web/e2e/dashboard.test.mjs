// The dashboard in a real browser against the real programs. One file, in order:
// the first test makes the account and the targets the others look at.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  api,
  axeViolations,
  bar,
  drawn,
  inEveryMode,
  modes,
  must,
  often,
  overflow,
  quiet,
  settings,
  shoot,
  short,
  slotsOf,
  startBrowser,
  startLab,
  targetByUrl,
  unlessSignedOut,
  until,
  verifyOnly,
  watchPage,
} from "./harness.mjs";
import { asAtFirst } from "./places.mjs";
import { startProxy } from "./proxy.mjs";

const run = Date.now().toString(36); // keeps runs against one installation apart
let browser;
let lab;
let proxy;
let state; // the signed-in browser's cookies
let watched; // the target of the live tests
const down = {};
const cutMs = short ? 5_000 : 30_000;

before(async () => {
  [browser, lab, proxy] = await Promise.all([startBrowser(), startLab(), startProxy(settings.base)]);
});
after(async () => {
  await browser?.close();
  await proxy?.close();
  await lab?.close();
  if (watched) await must("DELETE", `/targets/${watched.id}`);
});

async function signedIn(options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, ...options, storageState: state });
  const page = await context.newPage();
  return { context, page, trouble: watchPage(page) };
}

const pill = (page, kind) => page.locator(`[data-link="${kind}"]`).first().waitFor();

/** Time of the first tick in the row, as this machine's clock saw it. */
const firstTick = (page, id) =>
  until(`first tick of target ${id}`, async () => ((await bar(page, id))?.count > 0 ? Date.now() : 0), { everyMs: 50 });

// Promise: a new installation is set up in the browser
test("set-up: the owner and the first addresses, three required fields", async () => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 } });
  const page = await context.newPage();
  const session = await fetch(new URL("/api/v1/session", settings.base));
  const { setup_needed } = await session.json();
  if (setup_needed) {
    assert.ok(settings.setupLink, "SETUP_LINK is not set, and the installation has no account yet");
    await page.goto(new URL("/incidents", settings.base).href);
    await page.waitForURL("**/setup");
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.goto(
      new URL(new URL(settings.setupLink).pathname + new URL(settings.setupLink).search, settings.base).href,
    );
    await page.getByLabel("E-mail").fill(settings.email);
    await page.getByLabel("Password").fill("short");
    await page.keyboard.press("Enter");
    await page.locator(".problem", { hasText: "at least 8 characters" }).waitFor(); // the hint says so from the first
    await page.getByLabel("Password").fill(settings.password);
    await page.keyboard.press("Enter");
    await page.getByLabel("URLs").waitFor();
    await page.reload(); // step 1 is done
    await page.getByRole("heading", { name: "What should be watched?" }).waitFor();
    await page.getByLabel("URLs").fill(`${lab.url}/n/first-${run}\nnot a url://`);
    await page.getByRole("button", { name: "Start watching" }).click();
    const added = Date.now();
    await page.locator("[data-first] svg.ticks[data-count]:not([data-count='0'])").first().waitFor();
    console.log(`first live tick ${((Date.now() - added) / 1000).toFixed(1)} s after the first address was pasted`);
    assert.match(await page.locator(".refused").innerText(), /url/i, "a bad line says why");
    await page.getByRole("link", { name: "Go to the overview" }).click();
  } else {
    await page.goto(new URL("/login", settings.base).href);
    await page.getByLabel("E-mail").fill(settings.email);
    await page.getByLabel("Password").fill(settings.password);
    await page.keyboard.press("Enter");
  }
  await page.getByRole("button", { name: "Add target" }).waitFor();
  state = await context.storageState();
  await context.close();
});

// Promise: a target is added, and its first result appears without a reload
test("keyboard only: c, URL, interval, Enter; the first live result comes by itself", async () => {
  const { context, page } = await signedIn();
  await page.goto(settings.base.href);
  await pill(page, "live");
  const url = `${lab.url}/n/live-${run}`;
  await page.keyboard.press("c");
  await page.locator("input[name=url]:focus").waitFor();
  await page.keyboard.type(url);
  await page.keyboard.press("Tab");
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.type("2");
  const saved = Date.now();
  await page.keyboard.press("Enter");
  await page.locator("dialog").waitFor({ state: "detached" });
  watched = await until("the new target in the API", () => targetByUrl(url));
  assert.equal(watched.interval_s, 2);
  const seen = await firstTick(page, watched.id);
  const slot = (await bar(page, watched.id)).from;
  console.log(`first result ${seen - slot} ms after its slot, ${((seen - saved) / 1000).toFixed(1)} s after saving`);
  // How late results are on a page is measured by `make bench-web`.
  await must("PATCH", `/targets/${watched.id}`, often);
  await page.locator(`[data-row="${watched.id}"]`).focus();
  await page.keyboard.press("Enter");
  await page.waitForURL(new RegExp(`/targets/${watched.id}$`));
  await context.close();
});

/** Every slot the API has is on the page, and the page shows no hole. */
async function nothingMissing(page, id) {
  const shown = await until("the newest slot on the page", () => bar(page, id));
  const stored = await until(
    `the API to have ${shown.count} slots`,
    async () => {
      const slots = await slotsOf(id, shown.from, shown.to);
      return slots.at(-1) === shown.to ? slots : null;
    },
    { everyMs: 500 },
  );
  assert.equal(shown.count, stored.length, `the bar has ${shown.count} slots, the API ${stored.length}`);
  assert.equal((shown.to - shown.from) / (often.interval_s * 1000) + 1, shown.count, "every slot is there");
  return shown;
}

test("who is signed in goes on with the set-up until something is watched; an address that is down says so, and why", async () => {
  const { context, page, trouble } = await signedIn();
  await page.goto(new URL("/setup", settings.base).href);
  await page.locator(`[data-row="${watched.id}"]`).waitFor();
  assert.equal(new URL(page.url()).pathname, "/");
  await asAtFirst(page);
  await page.goto(new URL("/setup?token=used", settings.base).href);
  await page.getByRole("heading", { name: "What should be watched?" }).waitFor();
  // The form has no interval: with that of others its first slot could be a minute away.
  await page.route("**/api/v1/targets", (route) =>
    route.continue({ postData: JSON.stringify({ ...route.request().postDataJSON(), ...often }) }),
  );
  const url = `${lab.url}/status/503?first=${run}`;
  await page.getByLabel("URLs").fill(url);
  await page.getByRole("button", { name: "Start watching" }).click();
  const card = page.locator("[data-first]");
  await card.getByText("Down", { exact: true }).waitFor();
  assert.match(await card.innerText(), /503/, "why");
  await page.getByRole("status").filter({ hasText: "is now down" }).waitFor();
  await must("DELETE", `/targets/${(await targetByUrl(url)).id}`);
  assert.deepEqual(trouble, []);
  await context.close();
});

/** Does not wait for the back-off, unless that is over already. */
const tryNow = (page) =>
  page.locator("[data-link=reconnecting], [data-link=polling]").evaluateAll((pills) => pills[0]?.click());

test("the network is cut: pill, resume, no missing tick", async () => {
  const { context, page } = await signedIn();
  await page.goto(proxy.url);
  await pill(page, "live");
  await firstTick(page, watched.id);
  const before = await bar(page, watched.id);
  proxy.cut();
  await pill(page, "reconnecting");
  const cutAt = Date.now();
  // Long enough that several results are missed, and a first try to come back fails.
  await until("the cut to last", () => Date.now() - cutAt >= cutMs);
  assert.match(await page.locator("[data-link=reconnecting]").innerText(), /\d+ (s|min)/, "the pill says the age");
  await shoot(page, "reconnecting");
  proxy.restore();
  await tryNow(page);
  await pill(page, "live");
  await until("a result after the cut", async () => (await bar(page, watched.id)).to > cutAt);
  const shown = await nothingMissing(page, watched.id);
  assert.ok(shown.count > before.count || shown.count === 90, "the bar grew");
  await context.close();
});

test("only what is live is cut: a stream takes over, then polling, then it resumes", async () => {
  const { context, page } = await signedIn();
  await page.goto(proxy.url);
  await pill(page, "live");
  await firstTick(page, watched.id);
  proxy.cutSockets();
  const socketsAt = Date.now();
  await page.locator("[data-link=live][data-via=stream]").first().waitFor();
  await until("a result by the stream", async () => (await bar(page, watched.id)).to > socketsAt);
  await shoot(page, "stream");
  proxy.cutLive();
  const cutAt = Date.now();
  await pill(page, "polling");
  await until("a result while polling", async () => (await bar(page, watched.id)).to > cutAt);
  await shoot(page, "polling");
  proxy.restore();
  await tryNow(page);
  await pill(page, "live");
  await nothingMissing(page, watched.id);
  await context.close();
});

// Promise: no dashboard page is green while it is cut off
test("cut off, no page says that all is well: of when it is stands there, and green is gone", async () => {
  const { context, page } = await signedIn();
  const main = page.locator("main");
  const old = main.getByText("could not be refreshed").first();
  const pages = [
    // What probers said last is believed for half a minute.
    ["fleet", "/fleet", () => main.getByText("reporting", { exact: true }).first()],
    ["incidents", `/incidents?target=${watched.id}`, () => main.getByText("Nothing is wrong")],
    ["overview", "/", () => main.locator(".open-incidents:not(:has(.as-of))")],
  ];
  for (const [name, path, fine] of short ? pages.slice(1) : pages) {
    await page.goto(new URL(path, proxy.url).href);
    await pill(page, "live");
    await fine().waitFor();
    if (name === "fleet") await main.locator(".balance").waitFor();
    proxy.cut();
    await old.waitFor();
    assert.match(await old.innerText(), /^as of (just now|\d+ (s|min) ago), could not be refreshed$/);
    await fine().waitFor({ state: "detached" });
    if (name === "overview") {
      assert.equal(await main.getByText("No open incidents").count(), 0);
    } else {
      const green = main.locator(".s-up");
      await until(`nothing to be green on ${name}`, async () => (await green.count()) === 0);
    }
    await shoot(page, `cut-off-${name}-1280`);
    await page.setViewportSize({ width: 390, height: 844 });
    await drawn(page);
    assert.equal(await overflow(page), 0, `${name} overflows`);
    await shoot(page, `cut-off-${name}-390`);
    await page.setViewportSize({ width: 1280, height: 860 });
    proxy.restore();
    await page.evaluate(() => window.dispatchEvent(new Event("online"))); // not waiting for the back-off
    await pill(page, "live");
    await fine().waitFor();
    await old.waitFor({ state: "detached" });
  }
  await context.close();
});

test("what failed while it was maintained stays told as such when that is over", async () => {
  const { context, page } = await signedIn();
  const target = await must("POST", "/targets", { url: `${lab.url}/status/503?worked-on=${run}`, ...often });
  const { id } = await must("POST", "/maintenance-windows", {
    name: `Work ${run}`,
    target_id: target.id,
    starts_at: new Date(Date.now() - 60_000).toISOString().slice(0, 19),
    duration_s: 3600,
  });
  await page.goto(new URL(`/targets/${target.id}`, settings.base).href);
  const ticks = page.locator("svg.ticks").first();
  const told = async (word) =>
    Number(new RegExp(`(\\d+) ${word}`).exec(await ticks.getAttribute("aria-label"))?.[1] ?? 0);
  await until("two checks in maintenance", async () => (await told("in maintenance")) >= 2);
  await must("DELETE", `/maintenance-windows/${id}`);
  await until("a check after it", async () => (await told("down")) >= 1);
  const worked = await told("in maintenance");
  assert.ok(worked >= 2, `${worked} checks in maintenance after it`);
  await page.reload();
  await until("the same after a reload", async () => (await told("in maintenance")) === worked);
  await must("DELETE", `/targets/${target.id}`);
  await context.close();
});

test("pause and resume; delete can be undone, and is done when it is not", async () => {
  const { context, page } = await signedIn();
  const target = await must("POST", "/targets", { url: `${lab.url}/n/gone-${run}`, interval_s: 60 });
  await page.goto(settings.base.href);
  const row = page.locator(`li:has([data-row="${target.id}"])`);
  const choose = async (item) => {
    await row.getByRole("button", { name: /^Actions/ }).click();
    await page.getByRole("menuitem", { name: item }).click();
  };
  await row.waitFor();
  await choose("Pause");
  await row.getByText("Paused").waitFor();
  await until("paused in the API", async () => !(await must("GET", `/targets/${target.id}`)).active);
  await choose("Resume");
  await row.getByText("Paused").waitFor({ state: "detached" });
  await until("active in the API", async () => (await must("GET", `/targets/${target.id}`)).active);

  await choose("Delete");
  await row.waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Undo" }).click();
  await row.waitFor();
  assert.equal((await api("GET", `/targets/${target.id}`)).status, 200);

  await choose("Delete");
  await row.waitFor({ state: "detached" });
  await until("deleted in the API", async () => (await api("GET", `/targets/${target.id}`)).status === 404);
  await context.close();
});

test("the server's errors land on their fields, and nothing is stored", async () => {
  const { context, page } = await signedIn();
  await page.goto(settings.base.href);
  await page.getByRole("button", { name: "Add target" }).click();
  const url = page.getByLabel("URL", { exact: true });
  const describedBy = async (field) => {
    await page.locator(`input[name=${field}][aria-invalid=true]`).waitFor();
    return page.locator(`input[name=${field}]`).evaluate((input) => {
      const ids = (input.getAttribute("aria-describedby") ?? "").split(" ");
      return ids.map((id) => document.getElementById(id)?.textContent ?? "").join(" ");
    });
  };
  await page.getByRole("button", { name: "Start watching" }).click();
  assert.match(await describedBy("url"), /address/);
  await url.fill("http://10.0.0.1/admin");
  await page.getByLabel("Check every").fill("0");
  await page.getByRole("button", { name: /Name, timeout/ }).click();
  await page.getByLabel("Timeout").fill("90");
  await page.getByLabel("Expected status").fill("2xx");
  await page.getByLabel("Name", { exact: true }).fill("x".repeat(121));
  await page.getByRole("button", { name: "Start watching" }).click();
  assert.match(await describedBy("interval_s"), /from 1 to 86400 seconds/); // first: the address is still marked from before
  assert.match(await describedBy("url"), /private/);
  assert.match(await describedBy("timeout"), /30000|30 s/);
  assert.match(await describedBy("status"), /100 to 599/);
  assert.match(await describedBy("name"), /120/);
  assert.equal(
    await page.evaluate(() => document.activeElement?.getAttribute("name")),
    "url",
    "focus is on the first error",
  );
  assert.deepEqual(await axeViolations(page), []);
  await shoot(page, "errors-1280-light");
  assert.equal(await targetByUrl("http://10.0.0.1/admin"), undefined);
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Discard" }).click();
  await page.locator("dialog").waitFor({ state: "detached" });
  await context.close();
});

test("search, filters and keys", verifyOnly, async () => {
  const { context, page } = await signedIn();
  await page.goto(settings.base.href);
  await page.locator("[data-row]").first().waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type(`live-${run}`);
  await until("one row", async () => (await page.locator("[data-row]").count()) === 1);
  await page.waitForURL(/\?q=live-/); // the address holds the search
  await page.keyboard.type("-nothing");
  await page.getByText("Nothing matches").waitFor();
  await page.getByRole("button", { name: "Clear the filters" }).click();
  await page.locator("[data-row]").first().waitFor();
  await page.keyboard.press("j");
  await page.locator("[data-row]:focus").waitFor();
  await page.keyboard.press("?");
  await page.getByRole("heading", { name: "Keyboard shortcuts" }).waitFor();
  await page.keyboard.press("Escape");
  await Promise.all(["g", "f"].map((key) => page.keyboard.press(key))); // a pair: they come within a second
  await page.getByRole("heading", { name: "Fleet" }).waitFor();
  await context.close();
});

// Promise: text that people entered runs no script
test("names of other people run no script", async () => {
  const { context, page } = await signedIn();
  const name = `"><img src=x onerror="window.pwned=1"><script>window.pwned=1</script>`;
  const target = await must("POST", "/targets", {
    url: `${lab.url}/n/xss-${run}?<svg/onload=window.pwned=1>`.replace(/[<>]/g, encodeURIComponent),
    name: `${name}${run}`,
  });
  await page.goto(new URL(`/targets/${target.id}`, settings.base).href);
  await page.getByRole("heading", { level: 1 }).waitFor();
  assert.ok((await page.getByRole("heading", { level: 1 }).innerText()).includes("<script>"), "shown as text");
  await page.goto(settings.base.href);
  await page.locator(`[data-row="${target.id}"]`).waitFor();
  assert.equal(await page.evaluate(() => window.pwned), undefined);
  await must("DELETE", `/targets/${target.id}`);
  await context.close();
});

test("every page in every mode: no errors, no overflow, axe 0", verifyOnly, async () => {
  down.target = await must("POST", "/targets", {
    url: `${lab.url}/status/503?run=${run}`,
    name: `Failing shop ${run}`,
    ...often,
  });
  down.paused = await must("POST", "/targets", { url: `${lab.url}/n/paused-${run}`, active: false });
  down.long = await must("POST", "/targets", {
    url: `${lab.url}/n/${"a-very-long-path-segment/".repeat(8)}${run}`,
    name: `A name that is as long as people write them when nobody stops them ${"very ".repeat(6)}${run}`.slice(0, 118),
    interval_s: 3600,
  });
  const pages = [
    ["overview", "/", async (page) => page.locator("[data-row]").first().waitFor()],
    [
      "overview-filtered",
      "/?state=down",
      async (page) => page.locator("[data-row]", { hasText: `Failing shop ${run}` }).waitFor(),
    ],
    ["overview-nothing", "/?q=there-is-no-such-target", async (page) => page.getByText("Nothing matches").waitFor()],
    [
      "menu",
      "/",
      async (page) =>
        page
          .getByRole("button", { name: /^Actions/ })
          .first()
          .click(),
    ],
    [
      "add",
      "/",
      async (page) => {
        await page.getByRole("button", { name: "Add target" }).click();
        await page.getByRole("button", { name: /Name, timeout/ }).click();
      },
    ],
    [
      "help",
      "/",
      async (page) => {
        await page.locator("[data-row]").first().waitFor();
        await page.keyboard.press("?");
        await page.getByRole("heading", { name: "Keyboard shortcuts" }).waitFor();
      },
    ],
    ["target-up", `/targets/${watched.id}`, async (page) => page.locator(".log-row").first().waitFor()],
    [
      "target-check",
      `/targets/${watched.id}`,
      async (page) => {
        await page.locator(".plot canvas").waitFor();
        await page.locator(".log-row", { hasText: "HTTP 200" }).nth(2).click(); // it is stored
        await page.locator(".waterfall").waitFor();
      },
    ],
    [
      "target-table",
      `/targets/${watched.id}?range=6h`,
      async (page) => {
        await page.getByRole("button", { name: "Table", exact: true }).click();
        await page.locator(".series-table tbody tr").first().waitFor();
      },
    ],
    ["target-down", `/targets/${down.target.id}`, async (page) => page.locator(".verdict[data-state=down]").waitFor()],
    [
      "target-paused",
      `/targets/${down.paused.id}`,
      async (page) => page.locator(".verdict[data-state=paused]").waitFor(),
    ],
    ["target-long", `/targets/${down.long.id}`, async (page) => page.getByRole("heading", { level: 1 }).waitFor()],
    ["target-gone", "/targets/999999999", async (page) => page.getByText("There is no such target").waitFor()],
    [
      "report",
      `/reports/${new Date().toISOString().slice(0, 7)}`,
      async (page) => page.getByText("Content hash").waitFor(),
    ],
    ["fleet", "/fleet", async (page) => page.locator("table").first().waitFor()],
    ["login", "/login", async (page) => page.getByRole("button", { name: "Sign in with a passkey" }).waitFor()],
    [
      "setup-targets",
      "/login",
      async (page) => {
        await asAtFirst(page);
        await page.route("**/api/v1/targets", (route) => route.fulfill({ status: 201, json: down.target }));
        await page.goto(new URL("/setup", settings.base).href);
        await page.getByLabel("URLs").fill(`${down.target.url}\nnot a url://`);
        await page.getByRole("button", { name: "Start watching" }).click();
        await page.locator("[data-first]").getByText("Down", { exact: true }).waitFor();
        await page.locator(".refused").waitFor();
      },
    ],
    ["not-found", "/nowhere", async (page) => page.getByText("There is no such page").waitFor()],
  ];
  await until(
    "the failing target to be down",
    async () => {
      const { body } = await api("GET", `/results/latest?ids=${down.target.id}&n=5`);
      return body.items[0]?.results.some((result) => result.status === "down");
    },
    { everyMs: 500 },
  );
  await must("PATCH", `/targets/${watched.id}`, { interval_s: 3600 }); // a new row of the log moves those below

  const found = await inEveryMode(
    browser,
    state,
    pages.map(([name, path, ready]) => [name, path, (page) => ready(page).then(() => quiet(page))]),
  );
  const outside = await inEveryMode(browser, undefined, [
    ["setup", "/setup?token=x", (page) => page.getByRole("button", { name: "Continue" }).waitFor()],
  ]);
  assert.deepEqual([...found, ...outside.filter(unlessSignedOut)], []);

  const { context, page } = await signedIn();
  await page.goto(settings.base.href);
  await page.getByRole("button", { name: "Add target" }).waitFor();
  const title = await until("the down count in the title", async () => (await page.title()).match(/^\((\d+) down\)/));
  const icon = Number(title[1]) > 9 ? "down-many" : `down-${title[1]}`;
  await page.locator(`link[rel=icon][href*="${icon}."]`).waitFor({ state: "attached" }); // "stale" until it is live
  await context.close();
});

test("every mode finds what is wrong with a page", verifyOnly, async () => {
  const seed = () => {
    const main = document.querySelector("main");
    main.insertAdjacentHTML("beforeend", "<button></button><p style='width:3000px'>wide</p>");
    main.insertAdjacentHTML("afterbegin", "<p style='height:600px'>late</p>");
    main.animate({ opacity: [1, 0.9] }, { duration: 100_000, iterations: Number.POSITIVE_INFINITY });
    console.error("seeded");
  };
  const ready = (page) => page.locator("[data-row]").first().waitFor();
  const seeded = await inEveryMode(browser, state, [
    ["seeded", "/", (page) => ready(page).then(() => page.evaluate(seed))],
  ]);
  for (const { name, reducedMotion } of modes)
    for (const fault of ["overflows", "button-name", "moved", "seeded", ...(reducedMotion ? ["moves"] : [])])
      assert.ok(
        seeded.some((line) => line.startsWith(`seeded ${name}: `) && line.slice(line.indexOf(":")).includes(fault)),
        `${fault} is found in ${name}: ${seeded}`,
      );
});
