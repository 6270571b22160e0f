// The overview in a real browser: open incidents above the list, live, a region in the search, and
// uptime and certificates of the rows, groups of tags, and rows that keep their place under the pointer.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import {
  bar,
  drawn,
  inEveryMode,
  invited,
  must,
  often,
  openPage,
  signIn,
  startBrowser,
  startLab,
  until,
  verifyOnly,
} from "./harness.mjs";

let browser;
let lab;
let state; // the owner's cookies
let fails = false;
const site = createServer((request, response) =>
  response.writeHead(fails && request.url.startsWith("/late") ? 500 : 200).end(),
);
const made = [];

before(async () => {
  await new Promise((resolve) => site.listen(0, "127.0.0.1", resolve));
  browser = await startBrowser();
  lab = await startLab();
  state = await signIn(browser);
});
after(async () => {
  for (const id of made) await must("DELETE", `/targets/${id}`);
  await browser?.close();
  await lab?.close();
  site.closeAllConnections();
  await new Promise((resolve) => site.close(resolve));
});

/** A target of this test, with a name of its own. */
async function watch(name, status, regions) {
  const url = `${lab.url}/status/${status}?overview=${encodeURIComponent(name)}-${Date.now()}`;
  const target = await must("POST", "/targets", { url, name, ...often, regions });
  made.push(target.id);
  return target;
}

const strip = (page) => page.getByRole("region", { name: "Open incidents" });
const open = async () => (await must("GET", "/incidents?state=open&limit=100")).items;

test("open incidents stand above the list as they open, three at most", async () => {
  const { context, page, trouble } = await openPage(browser, state, "/");
  await page.locator("[data-link=live]").waitFor();
  await page.evaluate(() => {
    window.sameDocument = true;
  });
  for (const [i, status] of [500, 503, 404, 410].entries()) await watch(`Broken ${i + 1}`, status);
  const lines = strip(page).locator("[data-incident]");
  await until("four open incidents", async () => (await open()).length >= 4, { everyMs: 1000 });
  await strip(page).getByRole("link", { name: "All open incidents", exact: false }).waitFor();
  await until("the newest three", async () => {
    const newest = (await open()).slice(0, 3).map((incident) => String(incident.id));
    const shown = await lines.evaluateAll((links) => links.map((link) => link.dataset.incident));
    return shown.join() === newest.join();
  });
  assert.ok(await page.evaluate(() => window.sameDocument), "the page was never loaded again");
  const found = await inEveryMode(browser, state, [["overview-incidents", "/", (page) => strip(page).waitFor()]]);
  assert.deepEqual(found, []);
  await lines.first().click();
  await page.waitForURL((url) => /^\/incidents\/\d+$/.test(url.pathname));
  const [, id] = /(\d+)$/.exec(new URL(page.url()).pathname); // a newer one may have come
  await until("the title of the incident", async () => (await page.title()).includes(`Incident ${id} ·`));
  await page.goBack();
  await strip(page).getByRole("link", { name: "All open incidents", exact: false }).click();
  await page.waitForURL((url) => url.pathname === "/incidents" && url.searchParams.get("state") === "open");
  await page.goBack();
  await strip(page).waitFor();
  for (const id of made.splice(0)) await must("DELETE", `/targets/${id}`); // they take their incidents along
  await until("no line of what is over", async () => (await lines.count()) === Math.min(3, (await open()).length));
  assert.deepEqual(trouble, []);
  await context.close();
});

test("a region in the search shows what is checked from it, and stands in the address", verifyOnly, async () => {
  const here = await watch("Only here", 200, ["eu"]);
  const there = await watch("Only there", 200, ["us"]);
  const { context, page, trouble } = await openPage(browser, state, "/?q=only");
  const row = (target) => page.locator(`[data-row="${target.id}"]`);
  await row(here).waitFor();
  await row(there).waitFor();
  await page.getByLabel("Filter by region").selectOption("eu");
  await row(there).waitFor({ state: "detached" });
  assert.equal(await row(here).count(), 1);
  await page.waitForURL((url) => url.searchParams.get("region") === "eu");
  await page.reload();
  await row(here).waitFor();
  assert.equal(await row(there).count(), 0);
  await page.goto(new URL("/?q=only+there&region=eu", page.url()).href);
  await page.getByText("Only targets checked from eu are shown.").waitFor();
  await page.getByRole("button", { name: "Clear the region eu" }).click();
  await row(there).waitFor();
  assert.deepEqual(trouble, []);
  await context.close();
});

const hour = 3_600_000;
const figures = (page, target) =>
  page
    .locator(".target", { has: page.locator(`[data-row="${target.id}"]`) })
    .locator(".fig")
    .allTextContents();

/** Gives certificates to targets of this lab, which has none, beside what is really answered. */
async function certify(page, ends) {
  await page.route("**/api/v1/targets:figures*", async (route) => {
    const answer = await route.fetch();
    const body = await answer.json();
    for (const one of body.items) if (ends.has(one.target_id)) one.cert_not_after = ends.get(one.target_id);
    await route.fulfill({ response: answer, json: body });
  });
}

test("rows show uptime as the target's page does, and how long certificates last", verifyOnly, async () => {
  const run = Date.now();
  const names = ["Mixed", "Unmeasured", "Fine certificate", "Old certificate", "Ended certificate"];
  const [mixed, unmeasured, fine, old, ended] = await Promise.all(
    names.map(async (name) => {
      const url = `${lab.url}/status/200?figures=${encodeURIComponent(name)}-${run}`;
      const target = await must("POST", "/targets", { url, name: `${name} row`, active: false });
      made.push(target.id);
      return target;
    }),
  );
  const item = (hours, status) => ({
    at: new Date(run - hours * hour).toISOString(),
    status,
    ...(status === "down" ? { failure: "timeout" } : {}),
  });
  await must("POST", `/targets/${mixed.id}/results`, {
    items: [
      ...[1, 2, 3, 4, 5, 6].map((n) => item(n, "up")),
      item(7, "down"),
      ...[25, 26, 27].map((n) => item(n, "up")),
      ...[28, 29, 30].map((n) => item(n, "down")),
    ],
  });
  await until(
    "the results to be read",
    async () => {
      const [one] = (await must("GET", `/targets:figures?ids=${mixed.id}`)).items;
      return one.last_24h.uptime === 6 / 7 && one.last_30d.uptime === 9 / 13;
    },
    { everyMs: 500 },
  );
  const inDays = (days) => new Date(run + days * 24 * hour + hour).toISOString();
  const ends = new Map([
    [fine.id, inDays(60)],
    [old.id, inDays(6)],
    [ended.id, inDays(-2)],
  ]);
  const viewer = await invited(browser, `rows-${run}@example.com`, "Rosa", "viewer");
  const { context, page, trouble } = await openPage(browser, viewer, "/login");
  await certify(page, ends);
  const asked = [];
  page.on("request", (request) => /targets:figures/.test(request.url()) && asked.push(request.url()));
  await page.goto(new URL("/?q=row&sort=name", page.url()).href);
  await until("figures of all rows", async () => Boolean((await figures(page, ended))[2]));
  const shown = await figures(page, mixed);
  assert.match(shown[0], /^Uptime, 24 hours 85\.71%$/);
  assert.match(shown[1], /^Uptime, 30 days 69\.23%$/);
  assert.equal(shown[2], "", "without a certificate nothing is said of one");
  assert.match((await figures(page, unmeasured))[0], /–.*Unknown/, "never 100% of what was not measured");
  assert.match((await figures(page, fine))[2], /Certificate left\s+60 d/);
  assert.match((await figures(page, old))[2], /Certificate ends soon\s+6 d/);
  assert.match((await figures(page, ended))[2], /ended$/);
  const marks = (target) =>
    page.locator(".target", { has: page.locator(`[data-row="${target.id}"]`) }).locator(".fig svg");
  assert.deepEqual([await marks(fine).count(), await marks(old).count(), await marks(ended).count()], [0, 1, 1]);
  assert.equal(asked.length, 1, "one question for all rows");

  await page.locator(`[data-row="${mixed.id}"]`).click();
  const card = (name) => page.locator(".stat", { hasText: name }).locator(".big");
  await until("the same numbers on its own page", async () => {
    const own = [await card("Uptime, 24 hours").textContent(), await card("Uptime, 30 days").textContent()];
    return own.join() === "85.71%,69.23%";
  });
  assert.deepEqual(trouble, []);
  await context.close();

  const looks = await inEveryMode(browser, state, [
    [
      "overview-figures",
      "/login",
      async (page) => {
        await certify(page, ends);
        await page.goto(new URL("/?q=row&sort=name", page.url()).href);
        await page.locator(`[data-row="${mixed.id}"]`).waitFor();
        if (page.viewportSize().width >= 1200)
          await until("figures of all rows", async () => Boolean((await figures(page, ended))[2]));
      },
    ],
  ]);
  assert.deepEqual(looks, []);
});

test("where there is no room for figures none are asked for, until there is", verifyOnly, async () => {
  const target = await watch("Narrow row", 200);
  const { context, page, trouble } = await openPage(browser, state, "/?q=narrow+row", {
    viewport: { width: 1100, height: 800 },
  });
  const asked = [];
  page.on("request", (request) => /targets:figures/.test(request.url()) && asked.push(request.url()));
  await page.locator(`[data-row="${target.id}"]`).waitFor();
  await page.locator("[data-link=live]").waitFor();
  assert.equal(await page.locator(".fig:visible").count(), 0);
  // Three answers to other questions of the page have come since: it had the time to ask.
  for (let n = 0; n < 3; n++) await page.waitForResponse(/\/api\/v1\//);
  assert.deepEqual(asked, []);
  await page.setViewportSize({ width: 1280, height: 800 });
  await until("the figures", async () => Boolean((await figures(page, target))[0]));
  assert.equal(asked.length, 1);
  assert.deepEqual(trouble, []);
  await context.close();
});

test(
  "the list is grouped by tag, walked and selected by keys, and kept in the address and in views",
  verifyOnly,
  async () => {
    const run = Date.now();
    const [api, shop, blog, bare] = await Promise.all(
      [
        ["api", [`a-${run}`, `b-${run}`]],
        ["shop", [`b-${run}`]],
        ["blog", [`a-${run}`]],
        ["bare", []],
      ].map(async ([name, tags]) => {
        const url = `${lab.url}/status/200?group=${name}-${run}`;
        const target = await must("POST", "/targets", { url, name: `${name} ${run}`, tags, active: false });
        made.push(target.id);
        return target;
      }),
    );
    const { context, page, trouble } = await openPage(browser, state, `/?q=${run}&sort=name`);
    await page.locator(`[data-row="${bare.id}"]`).waitFor();
    await page.getByLabel("Group by").selectOption("tag");
    const lines = () =>
      page
        .locator(".rows > li")
        .evaluateAll((all) =>
          all
            .sort((a, b) => a.getBoundingClientRect().top - b.getBoundingClientRect().top)
            .map(
              (li) =>
                li.querySelector("h2")?.innerText.replace(/\s+/g, " ").trim() ??
                Number(li.querySelector("[data-row]").dataset.row),
            ),
        );
    const expected = [
      ...[`a-${run} 2 targets · Paused`, api.id, blog.id],
      ...[`b-${run} 2 targets · Paused`, api.id, shop.id],
      ...["Without tags 1 target · Paused", bare.id],
    ];
    await until("the groups", async () => (await lines()).length === expected.length);
    assert.deepEqual(await lines(), expected);
    await page.waitForURL((url) => url.searchParams.get("group") === "tag");
    const places = await page
      .locator(".rows > li")
      .evaluateAll((all) => all.map((li) => `${li.ariaPosInSet} of ${li.ariaSetSize}`).sort());
    assert.deepEqual(
      places,
      expected.map((_, i) => `${i + 1} of ${expected.length}`),
    );

    // By keys: past headings, to the second place of the same target.
    const at = () => page.evaluate(() => Number(document.activeElement?.closest("[data-at]")?.dataset.at ?? -1));
    for (const index of [1, 2, 4, 5, 7]) {
      await page.keyboard.press("j");
      await until(`line ${index} has the focus`, async () => (await at()) === index);
    }
    for (const index of [5, 4]) {
      await page.keyboard.press("k");
      await until(`line ${index} has the focus`, async () => (await at()) === index);
    }
    await page.keyboard.press("x"); // api, in b
    await page.keyboard.press("j");
    await until("line 5 has the focus", async () => (await at()) === 5);
    await page.keyboard.press("Shift+X"); // to shop: blog, of a, is not between them
    const chosen = async () => [
      ...new Set(
        await page
          .locator("[data-selected] [data-row]")
          .evaluateAll((all) => all.map((one) => Number(one.dataset.row))),
      ),
    ];
    const sorted = (ids) => [...ids].sort((a, b) => a - b);
    await until("two are selected", async () => (await chosen()).length === 2);
    assert.deepEqual(sorted(await chosen()), sorted([api.id, shop.id]));
    assert.equal(await page.locator("[data-selected]").count(), 3, "a target is selected wherever it stands");
    await page.keyboard.press("Escape");

    // The worst state of a group follows what it is.
    await must("PATCH", `/targets/${blog.id}`, { active: true });
    await until("the group of what is checked again", async () => !(await lines())[0].endsWith("Paused"));
    assert.match((await lines())[3], /Paused$/);
    await must("PATCH", `/targets/${blog.id}`, { active: false });

    const name = `Groups ${run}`;
    await page.getByRole("button", { name: "Saved views" }).click();
    await page.getByRole("menuitem", { name: "Save this filter and order" }).click();
    await page.getByRole("textbox", { name: "Name", exact: true }).fill(name);
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByLabel("Group by").selectOption("");
    await until("no headings", async () => (await page.locator(".rows h2").count()) === 0);
    await page.getByRole("button", { name: "Saved views" }).click();
    await page.getByRole("menuitem", { name, exact: true }).click();
    await until("the groups of the view", async () => (await page.locator(".rows h2").count()) === 3);
    await page.reload();
    await until("the groups of the address", async () => (await page.locator(".rows h2").count()) === 3);
    assert.deepEqual(trouble, []);
    await context.close();
    const looks = await inEveryMode(browser, state, [
      ["overview-groups", `/?q=${run}&sort=name&group=tag`, (page) => page.locator(".rows h2").first().waitFor()],
    ]);
    assert.deepEqual(looks, []);
  },
);

/** Notes when a row, the title and the tab's icon change, how the row flashes and what slides in. */
const noteChanges = (page, id) =>
  page.evaluate((target) => {
    window.noted = [];
    const note = (what, value, more) => {
      const last = window.noted.findLast((one) => one.what === what);
      if (last?.value !== value) window.noted.push({ what, value, at: performance.now(), ...more });
    };
    const row = document.querySelector(`[data-row="${target}"]`).closest("li");
    const look = () => {
      note("title", document.title);
      note("icon", document.querySelector("link[rel=icon]").getAttribute("href"));
      note("row", row.querySelector(":scope > .state-icon.s-down") ? "down" : "not down");
      for (const flash of row.querySelectorAll(".flash")) {
        const lasts = Math.max(0, ...flash.getAnimations().map((one) => one.effect.getComputedTiming().duration));
        note("flash", flash.className, { lasts });
      }
      for (const tick of row.querySelectorAll(".ticks .came")) {
        const [slide] = tick.getAnimations();
        const lasts = slide?.effect.getComputedTiming().duration ?? 0;
        const { offset, computedOffset, easing, composite, ...moved } = slide?.effect.getKeyframes()[0] ?? {};
        note("tick", tick.getAttribute("class"), { lasts, moves: Object.keys(moved).sort() });
      }
    };
    look();
    window.begun = { flash: 0, slide: 0 };
    row.addEventListener("animationstart", ({ animationName }) => {
      window.begun[animationName]++;
    });
    const all = { subtree: true, childList: true, attributes: true, characterData: true };
    for (const where of [document.head, row]) new MutationObserver(look).observe(where, all);
  }, id);

test(
  "a row that changes under the pointer or the focus flashes, its newest tick slides in, and it keeps its place; the title and the icon follow",
  verifyOnly,
  async () => {
    const run = Date.now();
    const [early, late] = await Promise.all(
      ["early", "late"].map(async (name) => {
        const url = `http://127.0.0.1:${site.address().port}/${name}-${run}`;
        const target = await must("POST", "/targets", { url, name: `${name} ${run}`, ...often });
        made.push(target.id);
        return target;
      }),
    );
    const is = async (state, target) =>
      (await must("GET", "/live/snapshot")).items.find(({ id }) => id === target.id)?.state === state;
    await until("both are up", async () => (await is("up", early)) && (await is("up", late)));
    const { context, page, trouble } = await openPage(browser, state, `/?q=${run}`);
    const still = await openPage(browser, state, `/?q=${run}`, { reducedMotion: "reduce" });
    const row = (target) => page.locator(`[data-row="${target.id}"]`);
    const order = () =>
      page
        .locator(".rows > li")
        .evaluateAll((all) =>
          all
            .sort((a, b) => a.getBoundingClientRect().top - b.getBoundingClientRect().top)
            .map((li) => Number(li.querySelector("[data-row]").dataset.row)),
        );
    const chip = page.getByRole("button", { name: "1 changed, re-sort" });
    for (const one of [page, still.page]) {
      await one.locator("[data-link=live]").waitFor();
      await one.locator(`[data-row="${late.id}"]`).waitFor();
      await noteChanges(one, late.id);
    }
    const bare = (await page.title()).replace(/^\(.*?\) /, "");

    for (const [word, hold, sorted] of [
      ["down", () => row(early).hover(), [late.id, early.id]],
      ["up", () => page.keyboard.press("j"), [early.id, late.id]],
    ]) {
      await hold();
      fails = word === "down";
      const before = await order();
      await page
        .locator(".rows > li", { has: row(late) })
        .locator(`> .state-icon.s-${word}`)
        .waitFor();
      await chip.waitFor();
      assert.deepEqual(await order(), before, "nothing moved");
      await chip.press("Enter"); // the pointer stays where it is
      await chip.waitFor({ state: "detached" });
      assert.deepEqual(await order(), sorted);
      await page.mouse.move(0, 0);

      const noted = await until(`the title and the icon of ${word}`, async () => {
        const { items } = await must("GET", "/live/snapshot");
        const [down, degraded, unknown, up] = ["down", "degraded", "no_data", "up"].map(
          (state) => items.filter((item) => item.state === state).length,
        );
        const named = down > 0 ? `(${down} down) ${bare}` : bare;
        const well = unknown > 0 || up === 0 ? "stale" : "ok";
        const known = degraded > 0 ? "degraded" : well;
        const icon = `/icons/${down === 0 ? known : `down-${down > 9 ? "many" : down}`}.svg`;
        const all = await page.evaluate(() => window.noted);
        const now = Object.fromEntries(all.map((one) => [one.what, one])); // the last of each
        // Another target may change them later: what belongs to this row is the first that says it.
        const said = (what, value) =>
          all.find((one) => one.what === what && one.value === value && one.at >= now.row.at);
        const found = { ...now, title: said("title", named) ?? now.title, icon: said("icon", icon) ?? now.icon };
        return found.title.value === named && found.icon.value === icon && found;
      });
      for (const { what, at } of [noted.title, noted.icon])
        assert.ok(at - noted.row.at < 1_000, `the ${what} follows in ${at - noted.row.at} ms`);
      assert.equal(noted.flash.value, `flash f-${word}`);
      assert.ok(noted.flash.lasts >= 1_000, "it can be seen");
      assert.ok(noted.tick.lasts >= 300, "its coming can be seen");
      assert.deepEqual(noted.tick.moves, ["opacity", "transform"], "nothing is laid out or painted anew for it");
      const without = await until(`the row without motion is ${word}`, () =>
        still.page.evaluate((name) => window.noted.findLast((one) => one.value === `flash f-${name}`), word),
      );
      assert.ok(without.lasts < 10, `it flashes for ${without.lasts} ms where nothing may move`);
      const unmoved = await still.page.evaluate(() => window.noted.findLast((one) => one.what === "tick"));
      assert.ok(unmoved.lasts < 10, `its tick slides for ${unmoved.lasts} ms where nothing may move`);
    }
    const begun = () => page.evaluate(() => window.begun);
    const before = await begun();
    assert.ok(before.flash >= 2 && before.slide === before.flash, `one with each change: ${JSON.stringify(before)}`);
    const { to } = await bar(page, late.id);
    await until("a result without a change", async () => (await bar(page, late.id)).to > to);
    await drawn(page);
    assert.deepEqual(await begun(), before, "none with a result alone");
    assert.deepEqual([...trouble, ...still.trouble], []);
    await Promise.all([context.close(), still.context.close()]);
  },
);
