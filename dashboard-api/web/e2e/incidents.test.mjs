// Incidents and maintenance in a real browser: a target fails, its incident is found, looked
// after and resolved. By itself or after the others: it makes the account when there is none.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import {
  inEveryMode,
  must,
  often,
  overflow,
  settings,
  shifted,
  shoot,
  signIn,
  startBrowser,
  unlessRefused,
  until,
  verifyOnly,
  watchPage,
} from "./harness.mjs";

const run = Date.now().toString(36);
let browser;
let state; // the signed-in browser's cookies
let watched;
let incident;
let told; // the status page whose readers hear of it
let later; // a post on it that was not written from the incident
let status = 200;
const server = createServer((_, response) => response.writeHead(status).end("ok"));

before(async () => {
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  browser = await startBrowser();
  state = await signIn(browser);
});
after(async () => {
  await browser?.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

async function signedIn(path, prepare = async () => {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, storageState: state });
  const page = await context.newPage();
  const trouble = watchPage(page);
  await prepare(page);
  await page.goto(new URL(path, settings.base).href);
  return { context, page, trouble };
}

test("an incident comes to the open list by itself, with the count in the navigation", async () => {
  const url = `http://127.0.0.1:${server.address().port}/${run}`;
  watched = await must("POST", "/targets", { url, name: `Shop ${run}`, ...often });
  const shows = async (word) =>
    (await must("GET", "/live/snapshot")).items.find((item) => item.id === watched.id)?.state === word;
  await until("it is up", () => shows("up"));
  const { context, page, trouble } = await signedIn(`/incidents?target=${watched.id}`);
  await page.getByRole("heading", { name: "Nothing is wrong" }).waitFor();
  status = 500;
  const row = page.locator("[data-incidents=open] .incidents .incident");
  await row.waitFor();
  assert.match(await row.innerText(), new RegExp(`Shop ${run}`));
  incident = (await must("GET", `/incidents?target_id=${watched.id}`)).items[0];
  assert.match(await row.innerText(), /Down|Degraded/);
  await page
    .getByRole("navigation", { name: "Main" })
    .getByRole("link", { name: /^Incidents [1-9]\d*\+? open$/ })
    .waitFor();
  assert.deepEqual(trouble, []);
  await context.close();
});

// Promise: an incident is acknowledged
test("by keyboard: j to the incident, a note, and acknowledged", async () => {
  const { context, page, trouble } = await signedIn(`/incidents?target=${watched.id}&state=open`);
  await page.locator(`[data-incident="${incident.id}"]`).waitFor();
  await page.keyboard.press("j");
  await page.locator(`[data-incident="${incident.id}"]:focus`).waitFor();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: `Shop ${run}` }).waitFor();
  const timeline = page.locator(".timeline li");
  await page.getByText("First failing check, from").waitFor();
  assert.match(await timeline.first().innerText(), /First failing check/, "it begins with the first failing check");
  await page.getByLabel("Note").focus();
  await page.keyboard.press("Tab");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter"); // a note of nothing
  await page.locator("textarea[aria-invalid=true]:focus").waitFor();
  await page.keyboard.type("The disk is full.");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.locator(".timeline .note", { hasText: "The disk is full." }).waitFor();
  assert.match(await page.locator(".timeline [data-kind=note]").innerText(), /You noted/);
  await page.getByRole("button", { name: "Acknowledge" }).focus();
  await page.keyboard.press("Enter");
  await page.getByText("You acknowledged it").waitFor();
  assert.equal((await must("GET", `/incidents/${incident.id}`)).state, "acknowledged");
  assert.equal(await page.getByRole("button", { name: "Acknowledge" }).count(), 0);
  status = 200;
  await page.locator(".verdict", { hasText: "Resolved" }).waitFor();
  await page.locator(".timeline [data-kind=resolved]").waitFor();
  assert.deepEqual(trouble.filter(unlessRefused), []);
  await context.close();
});

test("what changed comes late, and is much: the timeline and its form stay where they are", verifyOnly, async () => {
  let show;
  const shown = new Promise((resolve) => {
    show = resolve;
  });
  const late = (page) =>
    page.route(`**/incidents/${incident.id}/changes`, async (route) => {
      const response = await route.fetch();
      const answer = await response.json();
      const many = [1, 2, 3, 4, 5, 6].map((n) => ({ ...answer.regions[0], region: `region-${n}` }));
      await shown;
      await route.fulfill({ response, json: { ...answer, regions: many } });
    });
  const { context, page, trouble } = await signedIn(`/incidents/${incident.id}`, late);
  await page.getByText("First failing check, from").waitFor();
  const places = () =>
    Promise.all([".timeline", "#say", "#what-changed"].map((what) => page.locator(what).boundingBox()));
  await page.locator("#what-changed").waitFor();
  const before = await places();
  show();
  await page.locator("[data-region=region-6]").waitFor();
  assert.deepEqual(await places(), before);
  assert.equal(await shifted(page), "");
  assert.deepEqual(trouble, []);
  await context.close();
});

test("readers of a status page are told of it, and its timeline says what, where and by whom", async () => {
  told = await must("POST", "/status-pages", {
    slug: `told-${run}`,
    title: `Readers ${run}`,
    published: true,
    groups: [
      {
        name: "",
        components: [
          { name: "Shop", target_ids: [watched.id] },
          { name: "Else", target_ids: [] },
        ],
      },
    ],
  });
  const { context, page, trouble } = await signedIn(`/incidents/${incident.id}`);
  const tell = page.getByRole("button", { name: "Tell on a status page" });
  await tell.focus();
  await page.keyboard.press("Enter");
  const showing = page.getByRole("group", { name: "Pages that show what is affected" });
  await showing.getByRole("menuitem", { name: `Readers ${run}` }).waitFor();
  await page.keyboard.press("Enter"); // the first one, which no other page shows
  await page.getByLabel("Title").waitFor();
  assert.match(await page.getByLabel("Title").inputValue(), /^Shop: /, "it begins in the words of the page");
  const affects = page.getByRole("group", { name: "Affects" });
  assert.deepEqual(
    [await affects.getByLabel("Shop").isChecked(), await affects.getByLabel("Else").isChecked()],
    [true, false],
  );
  await page.getByLabel("What you tell").fill("We **look** into it.");
  await page.getByRole("button", { name: "Post", exact: true }).click();
  await page.getByRole("heading", { name: "The incident it tells of" }).waitFor();
  await page.getByLabel("Update", { exact: true }).fill("A disk is full.");
  await page.getByRole("group", { name: "Where it stands" }).getByRole("button", { name: "Identified" }).click();
  await page.getByRole("button", { name: "Post update" }).click();
  await page.locator(".updates li", { hasText: "A disk is full." }).waitFor();
  await page.locator(`[data-incident="${incident.id}"]`).click();
  const updates = page.locator(".timeline [data-kind=told]");
  await updates.nth(1).waitFor();
  assert.match(await updates.first().innerText(), new RegExp(`You told readers of Readers ${run}`));
  assert.equal(await updates.first().locator("strong").innerText(), "look", "as readers see it");
  assert.match(await updates.nth(1).innerText(), /Identified[\s\S]*A disk is full\./);
  await updates.first().getByRole("link").click();
  await page.getByRole("heading", { name: "Updates" }).waitFor();
  assert.deepEqual(trouble, []);
  await context.close();
});

test("by keyboard: a post that is there already tells of the incident, and then of none", verifyOnly, async () => {
  const update = `Written before anybody looked, ${run}.`;
  later = await must("POST", `/status-pages/${told.id}/posts`, {
    title: `Slow ${run}`,
    component_ids: [told.groups[0].components[0].id],
    text: update,
  });
  const { context, page, trouble } = await signedIn(`/settings/pages/${told.id}/posts/${later.id}`);
  const its = page.getByRole("heading", { name: "The incident it tells of" });
  const choose = async (key, line) => {
    await page.getByRole("button", { name: "Edit", exact: true }).focus();
    await page.keyboard.press("Enter");
    const field = page.getByRole("combobox", { name: "The incident it tells of" });
    await field.locator("option", { hasText: `Shop ${run}` }).waitFor({ state: "attached" });
    await field.focus();
    await page.keyboard.press(key); // that of what the post affects is the first
    assert.match(await field.locator("option:checked").innerText(), line);
    await page.getByRole("button", { name: "Save changes" }).focus();
    await page.keyboard.press("Enter");
    await page.locator("dialog").waitFor({ state: "detached" });
  };
  const tells = async () =>
    (await must("GET", `/incidents/${incident.id}`)).public_updates.some((one) => one.text === update);
  await page.getByRole("heading", { name: `Slow ${run}` }).waitFor();
  assert.equal(await its.count(), 0);
  await choose("ArrowDown", new RegExp(`^Shop ${run} · `));
  await its.waitFor();
  assert.ok(await tells(), "it is in the timeline");
  await page.locator(`[data-incident="${incident.id}"]`).click();
  await page.locator(".timeline [data-kind=told]", { hasText: update }).waitFor();
  await page.goBack();
  await choose("ArrowUp", /^No incident$/);
  await its.waitFor({ state: "detached" });
  assert.ok(!(await tells()), "it is not any more");
  assert.deepEqual(trouble, []);
  await context.close();
});

test("the target's page tells of its incidents", verifyOnly, async () => {
  const { context, page, trouble } = await signedIn(`/targets/${watched.id}`);
  const section = page.getByRole("region", { name: "Incidents", exact: true });
  await section.locator(`[data-incident="${incident.id}"]`).waitFor();
  await section.getByRole("link", { name: "All of this target" }).click();
  await page.waitForURL(/\/incidents\?target=/);
  await page.locator("[data-incidents=resolved] .incidents .incident").waitFor();
  assert.deepEqual(trouble, []);
  await context.close();
});

test("lists keep still under the pointer and the focus, and say how much has changed", verifyOnly, async () => {
  const failing = new Set();
  const site = createServer((request, response) => response.writeHead(failing.has(request.url) ? 500 : 200).end("ok"));
  await new Promise((resolve) => site.listen(0, "127.0.0.1", resolve));
  const [first, second] = await Promise.all(
    ["first", "second"].map((name) =>
      must("POST", "/targets", {
        url: `http://127.0.0.1:${site.address().port}/${name}`,
        name: `${name} ${run}`,
        ...often,
      }),
    ),
  );
  const fails = async ({ id, url }) => {
    failing.add(new URL(url).pathname);
    await until("it is an incident", async () => (await must("GET", `/incidents?target_id=${id}`)).items.length > 0);
  };
  const up = async ({ id }) =>
    (await must("GET", "/live/snapshot")).items.find((item) => item.id === id)?.state === "up";
  await until("both are up", async () => (await up(first)) && (await up(second)));
  await fails(first);
  const { context, page, trouble } = await signedIn("/incidents");
  const open = page.locator("[data-incidents=open] .incident");
  const names = async () => (await open.locator(".incident-link").allInnerTexts()).filter((name) => name.includes(run));
  const chip = page.getByRole("button", { name: /changed, re-sort$/ });
  await open.filter({ hasText: first.name }).hover();
  const place = () => open.filter({ hasText: first.name }).boundingBox();
  const before = await place();
  await fails(second);
  await chip.waitFor();
  assert.deepEqual(await place(), before, "nothing moves");
  assert.deepEqual(await names(), [first.name], "the new one waits");
  await shoot(page, "held");
  await chip.click(); // on the way to it the list keeps still, too
  await open.filter({ hasText: second.name }).waitFor();
  assert.deepEqual(await names(), [second.name, first.name]);

  await page.mouse.move(0, 0);
  await open.filter({ hasText: first.name }).locator("a").focus();
  failing.clear();
  await open.filter({ hasText: first.name }).getByText("Resolved, was").waitFor();
  await chip.waitFor();
  assert.deepEqual(await names(), [second.name, first.name], "who has the focus loses nothing");
  assert.equal(await page.evaluate(() => document.activeElement.textContent), first.name);
  await page.evaluate(() => document.activeElement.blur());
  await until("they go when nothing holds them", async () => (await names()).length === 0);

  await page.goto(new URL(`/targets/${first.id}`, settings.base).href);
  const log = page.locator("section", { has: page.locator("#checks") });
  const newest = () => log.locator("[data-slot]").first().getAttribute("data-slot");
  await log.locator("[data-slot]").first().hover();
  const top = await newest();
  await log.locator(".chip.notice").waitFor();
  assert.equal(await newest(), top, "the newest waits");
  await page.mouse.move(0, 0);
  await until("it comes when nothing holds the list", async () => (await newest()) !== top);
  assert.deepEqual(trouble, []);
  await context.close();
  await Promise.all([first, second].map(({ id }) => must("DELETE", `/targets/${id}`)));
  site.closeAllConnections();
  await new Promise((resolve) => site.close(resolve));
});

test("on paper an incident, its target and the overview have no navigation and no buttons", verifyOnly, async () => {
  const screenOnly = () =>
    [...document.querySelectorAll("nav, button:not(.log-row, .tile), .btn, .back, textarea, form, .toolbar")]
      .filter((node) => node.checkVisibility())
      .map((node) => node.outerHTML.slice(0, 120));
  for (const [name, path, ready] of [
    ["incident", `/incidents/${incident.id}`, (page) => page.locator("[data-region]").first().waitFor()],
    ["target", `/targets/${watched.id}`, (page) => page.locator(".log-row").first().waitFor()],
    [
      "overview",
      `/?q=Shop+${run}`,
      (page) =>
        page
          .getByRole("link", { name: `Shop ${run}` })
          .first()
          .waitFor(),
    ],
  ]) {
    const { context, page, trouble } = await signedIn(path);
    await ready(page);
    assert.ok((await page.evaluate(screenOnly)).length > 3, "on a screen there are some");
    await page.emulateMedia({ media: "print" });
    await page.setViewportSize({ width: 690, height: 980 }); // a sheet within its margins
    assert.deepEqual(await page.evaluate(screenOnly), []);
    await until("the chart follows the sheet", async () => (await overflow(page)) === 0);
    await page.getByText(`Shop ${run}`).first().waitFor();
    await shoot(page, `paper-${name}`, true);
    assert.deepEqual(trouble, []);
    await context.close();
  }
});

test("by keyboard: maintenance is planned, shown before it is saved, removed and taken back", async () => {
  const { context, page, trouble } = await signedIn("/maintenance");
  await page.getByRole("heading", { level: 1, name: "Maintenance" }).waitFor();
  await page.getByRole("button", { name: "Plan maintenance" }).first().waitFor();
  await page.keyboard.press("c");
  await page.getByLabel("Name", { exact: true }).waitFor();
  await page.keyboard.press("Enter");
  await page.locator("input[aria-invalid=true]:focus").waitFor();
  await page.keyboard.type(`Upgrade ${run}`);
  await page.getByRole("combobox", { name: "Target", exact: true }).focus();
  await page.keyboard.type(`Shop ${run}`);
  await page.getByRole("option", { name: `Shop ${run}` }).waitFor();
  await page.keyboard.press("Enter");
  await page.getByLabel("Comes again").focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  assert.equal(await page.getByLabel("Comes again").inputValue(), "weekly");
  assert.equal(await page.locator(".next-times li").count(), 5);
  await page.getByRole("button", { name: "Plan it" }).focus();
  await page.keyboard.press("Enter");
  await page.locator("dialog").waitFor({ state: "detached" });
  const row = page.locator("[data-windows=upcoming] .window", { hasText: `Upgrade ${run}` });
  await row.waitFor();
  const planned = async () =>
    (await must("GET", "/maintenance-windows?limit=1000")).items.find((one) => one.name === `Upgrade ${run}`);
  const saved = await planned();
  assert.equal(saved.target_id, watched.id);
  assert.match(saved.rrule, /^FREQ=WEEKLY/);
  await row.getByRole("button", { name: "Remove" }).focus();
  await page.keyboard.press("Enter");
  await row.waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Undo" }).focus();
  await page.keyboard.press("Enter");
  await row.waitFor();
  assert.ok(await planned(), "it was never gone");
  assert.deepEqual(trouble, []);
  await context.close();
});

test(
  "by keyboard: maintenance is edited, and not over what somebody else made of it meanwhile",
  verifyOnly,
  async () => {
    const name = `Upgrade ${run}`;
    const planned = async () =>
      (await must("GET", "/maintenance-windows?limit=1000")).items.find((one) => one.target_id === watched.id);
    const before = await planned();
    const { context, page, trouble } = await signedIn("/maintenance");
    const row = page.locator("[data-windows=upcoming] .window", { hasText: run });
    const open = async () => {
      await row.getByRole("button", { name: `Edit ${name}` }).focus();
      await page.keyboard.press("Enter");
      await page.getByRole("dialog", { name: "Edit maintenance" }).waitFor();
    };
    const save = async () => {
      await page.getByRole("button", { name: "Save changes" }).focus();
      await page.keyboard.press("Enter");
    };
    const gone = () => page.locator("dialog").waitFor({ state: "detached" });
    await open();
    assert.equal(await page.getByLabel("Name", { exact: true }).inputValue(), name);
    assert.equal(await page.getByRole("combobox", { name: "Target", exact: true }).inputValue(), `Shop ${run}`);
    assert.equal(await page.getByLabel("Comes again").inputValue(), "weekly");
    await save(); // nothing is changed
    await gone();
    assert.equal((await planned()).version, before.version);
    await open();
    await page.getByLabel("Lasts (hours)").fill("2.5");
    await page.getByLabel("Comes again").selectOption("daily");
    assert.match(await page.locator(".next-times li").first().innerText(), /2 h 30 min/);
    await save();
    await gone();
    await page.getByText(`${name} saved.`).first().waitFor(); // it is said, too
    await row.getByText("Every day").waitFor();
    const after = await planned();
    assert.deepEqual(
      { ...after, rrule: 0, duration_s: 0, version: 0, changed_at: 0, next_to: 0 },
      { ...before, rrule: 0, duration_s: 0, version: 0, changed_at: 0, next_to: 0 },
    );
    assert.deepEqual([after.duration_s, after.rrule, after.version], [9000, "FREQ=DAILY", before.version + 1]);

    await open();
    await page.getByLabel("Lasts (hours)").fill("3");
    await must("PATCH", `/maintenance-windows/${after.id}`, { name: `Theirs ${run}` });
    await save();
    await page.getByText("Somebody else changed this maintenance. Close and open it again.").waitFor();
    assert.deepEqual([(await planned()).duration_s, (await planned()).name], [9000, `Theirs ${run}`]);
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Discard" }).click();
    await gone();
    await row.getByRole("button", { name: `Edit Theirs ${run}` }).click(); // it begins with what it is now
    assert.equal(await page.getByLabel("Lasts (hours)").inputValue(), "2.5");
    await page.getByLabel("Lasts (hours)").fill("3");
    await save();
    await gone();
    assert.deepEqual([(await planned()).duration_s, (await planned()).name], [10_800, `Theirs ${run}`]);
    assert.deepEqual(
      trouble.filter((line) => !/status of 412/.test(line)),
      [],
    );
    await context.close();
  },
);

test(
  "by keyboard: maintenance of every target with a tag is planned, and the list says which tags",
  verifyOnly,
  async () => {
    const { context, page, trouble } = await signedIn("/maintenance");
    await page.getByRole("button", { name: "Plan maintenance" }).first().waitFor();
    await page.keyboard.press("c");
    await page.getByLabel("Name", { exact: true }).waitFor();
    await page.keyboard.type(`Racks ${run}`);
    await page.getByRole("group", { name: "For" }).getByRole("button", { name: "Tags" }).focus();
    await page.keyboard.press("Enter");
    assert.equal(await page.getByRole("combobox", { name: "Target", exact: true }).count(), 0);
    await page.getByRole("button", { name: "Plan it" }).focus();
    await page.keyboard.press("Enter"); // without a tag
    await page.locator(".tag-input input[aria-invalid=true]:focus").waitFor();
    await page.getByText("Enter at least one tag.").waitFor();
    await page.keyboard.type(`rack-${run},db,`);
    await page.getByRole("button", { name: "Plan it" }).focus();
    await page.keyboard.press("Enter");
    await page.locator("dialog").waitFor({ state: "detached" });
    const row = page.locator("[data-windows=upcoming] .window", { hasText: `Racks ${run}` });
    await row.waitFor();
    assert.match(await row.innerText(), new RegExp(`db\\s*rack-${run}`));
    assert.doesNotMatch(await row.innerText(), /Nothing/);
    const planned = (await must("GET", "/maintenance-windows?limit=1000")).items.find(
      (one) => one.name === `Racks ${run}`,
    );
    assert.deepEqual(planned.tags, ["db", `rack-${run}`]);
    assert.deepEqual([planned.everything, planned.target_id], [false, null]);
    assert.deepEqual(trouble, []);
    await context.close();
  },
);

test("in every mode: no overflow, no axe violation, nothing on the console", verifyOnly, async () => {
  const long = "a-tag-that-is-as-long-as-a-tag-may-be-"; // 40 characters with what follows
  await must("POST", "/maintenance-windows", {
    name: `Many racks ${run}`,
    tags: ["rack-a", "rack-b", "rack-c", "rack-d", `${long}01`, `${long}02`],
    starts_at: new Date(Date.now() + 86_400_000).toISOString().slice(0, 19),
    zone: "UTC",
    duration_s: 3600,
  });
  await must("POST", "/maintenance-windows", {
    name: `Now ${run}`,
    target_id: watched.id,
    starts_at: new Date(Date.now() - 60_000).toISOString().slice(0, 19),
    zone: "UTC",
    duration_s: 3600,
  });
  const found = await inEveryMode(browser, state, [
    [
      "incidents",
      "/incidents",
      (page) => page.locator("[data-incidents=resolved] .incidents .incident").first().waitFor(),
    ],
    [
      "incidents-none",
      `/incidents?target=${watched.id}&state=open`,
      (page) => page.getByRole("button", { name: "Clear the filters" }).waitFor(),
    ],
    [
      "incident",
      `/incidents/${incident.id}`,
      async (page) => {
        await page.getByText("First failing check, from").waitFor();
        await page.getByRole("button", { name: "Tell on a status page" }).click();
        await page.getByRole("menuitem", { name: `Readers ${run}` }).waitFor();
      },
    ],
    [
      "post-of-incident",
      `/settings/pages/${told.id}/posts/new?incident=${incident.id}`,
      (page) => page.getByText("whose timeline it will be in").waitFor(),
    ],
    [
      "post-edit",
      `/settings/pages/${told.id}/posts/${later.id}`,
      async (page) => {
        await page.getByRole("button", { name: "Edit", exact: true }).click();
        await page.locator("dialog option", { hasText: `Shop ${run}` }).waitFor({ state: "attached" });
      },
    ],
    [
      "maintenance",
      "/maintenance",
      async (page) => {
        await page.locator("[data-windows=now] .window").first().waitFor();
        await page.getByText(`${long}02`).waitFor();
      },
    ],
    [
      "maintenance-edit",
      "/maintenance",
      async (page) => {
        await page.getByRole("button", { name: `Edit Now ${run}` }).click();
        await page.getByText("What it has covered stays covered.").waitFor();
        await page.getByLabel("Lasts (hours)").fill("");
        await page.getByRole("button", { name: "Save changes" }).click();
        await page.locator("[aria-invalid=true]").first().waitFor();
      },
    ],
    [
      "maintenance-new-tags",
      "/maintenance",
      async (page) => {
        await page.getByRole("button", { name: "Plan maintenance" }).first().click();
        await page.getByRole("group", { name: "For" }).getByRole("button", { name: "Tags" }).click();
        await page.getByRole("combobox", { name: "Tags" }).fill("db,");
        await page.keyboard.press("Enter");
        await page.getByRole("button", { name: "Plan it" }).click();
        await page.locator("[aria-invalid=true]").first().waitFor();
      },
    ],
    [
      "maintenance-new",
      "/maintenance",
      async (page) => {
        await page.getByRole("button", { name: "Plan maintenance" }).first().click();
        await page.getByLabel("Comes again").selectOption("monthly");
        await page.getByRole("button", { name: "Plan it" }).click();
        await page.locator("[aria-invalid=true]").first().waitFor();
      },
    ],
  ]);
  assert.deepEqual(found, []);
  await must("DELETE", `/status-pages/${told.id}`);
  await must("DELETE", `/targets/${watched.id}`);
});
