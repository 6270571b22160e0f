// Many targets at once, the palette, and a target's figures, in a real browser.
// By itself or after the others: it makes the account when there is none.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import {
  axeViolations,
  inEveryMode,
  must,
  often,
  settings,
  shoot,
  signIn,
  startBrowser,
  startLab,
  until,
  verifyOnly,
  watchPage,
} from "./harness.mjs";

const run = Date.now().toString(36);
const targets = [];
let browser;
let lab;
let state; // the signed-in browser's cookies

before(async () => {
  [browser, lab] = await Promise.all([startBrowser(), startLab()]);
  state = await signIn(browser);
  for (const name of ["Ant", "Bee", "Cat"])
    targets.push(
      await must("POST", "/targets", { url: `${lab.url}/n/${name}-${run}`, name: `${name} ${run}`, ...often }),
    );
});
after(async () => {
  await browser?.close();
  await lab?.close();
});

async function signedIn(path) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, storageState: state });
  const page = await context.newPage();
  const trouble = watchPage(page);
  await page.goto(new URL(path, settings.base).href);
  return { context, page, trouble };
}

const read = (target) => must("GET", `/targets/${target.id}`);
const all = async (what, is) => until(what, async () => (await Promise.all(targets.map(read))).every(is));

test("by keyboard: j and x, with Shift to the last, paused at once and taken back", async () => {
  const { context, page, trouble } = await signedIn(`/?q=${run}&sort=name`);
  await page.locator(`[data-row="${targets[2].id}"]`).waitFor();
  const focus = (i) => page.locator(`[data-row="${targets[i].id}"]:focus`).waitFor();
  await page.keyboard.press("j");
  await focus(0);
  await page.keyboard.press("x");
  await page.getByText("1 selected").waitFor();
  await page.keyboard.press("j");
  await focus(1);
  await page.keyboard.press("j");
  await focus(2);
  await page.keyboard.press("Shift+X");
  await page.getByText("3 selected").waitFor();
  const bar = page.getByRole("region", { name: "Selected targets" });
  await bar.getByRole("button", { name: "Pause" }).focus();
  await page.keyboard.press("Enter");
  await page.getByText("3 targets paused.").first().waitFor();
  await all("they are paused", (target) => !target.active);
  await page.getByRole("button", { name: "Undo" }).focus();
  await page.keyboard.press("Enter");
  await all("they go on", (target) => target.active);
  assert.deepEqual(trouble, []);
  await context.close();
});

test("an edit of many shows what changes before it does; deleting can be taken back", async () => {
  const { context, page, trouble } = await signedIn(`/?q=${run}&sort=name`);
  await page.getByRole("checkbox", { name: `Select Ant ${run}` }).check();
  await page.getByRole("button", { name: "Select all 3 matching" }).click();
  const bar = page.getByRole("region", { name: "Selected targets" });
  await bar.getByRole("button", { name: "Edit" }).click();
  await page.getByLabel("Check every (seconds)").fill("0");
  await page.keyboard.press("Enter");
  await page.locator("input[aria-invalid=true]:focus").waitFor();
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.type("20");
  await page.getByText("Interval: 2 s → 20 s").waitFor();
  await page.keyboard.press("Enter");
  await all("every twenty seconds", (target) => target.interval_s === 20);
  await bar.getByRole("button", { name: "Delete" }).click();
  await page.getByText("3 targets deleted.").first().waitFor();
  await page.locator(`[data-row="${targets[0].id}"]`).waitFor({ state: "detached" });
  await page.getByText("3 targets deleted.").first().locator("..").getByRole("button", { name: "Undo" }).click();
  await page.locator(`[data-row="${targets[0].id}"]`).waitFor();
  await all("they are still there", (target) => target.id > 0);
  assert.deepEqual(trouble, []);
  await context.close();
});

test(
  "an edit of many sets codes, addresses, what they depend on and the rule, says who stays, and takes all of it back",
  verifyOnly,
  async () => {
    const router = await must("POST", "/targets", { url: "tcp://127.0.0.1:9", name: `Dam ${run}`, active: false });
    const before = await Promise.all(targets.map(read));
    const { context, page, trouble } = await signedIn(`/?q=${run}&sort=name`);
    await page.getByRole("checkbox", { name: `Select Ant ${run}` }).check();
    await page.getByRole("button", { name: "Select all 4 matching" }).click();
    const bar = page.getByRole("region", { name: "Selected targets" });
    await bar.getByRole("button", { name: "Edit" }).click();
    await page.getByLabel("Expected status codes").fill("200-299, 404");
    await page.getByText("Expected status codes: 200-399 → 200-299, 404 for 3 targets").waitFor();
    await page.getByText(`1 target stays as it is. Dam ${run}: `).waitFor(); // it has no status
    await page.getByLabel("Addresses").selectOption("IPv4");
    await page.getByText("Addresses: IPv4, IPv6 → IPv4 for 3 targets").waitFor();
    await page.getByLabel("Set what they depend on").check();
    const depends = page.getByRole("combobox", { name: "Depends on" });
    await depends.click();
    await depends.fill(`Dam ${run}`);
    await page.getByRole("option", { name: `Dam ${run}` }).click();
    await page.getByText(`Depends on: Nothing → Dam ${run} for 3 targets`).waitFor();
    await page.getByLabel("Set the assertions").check();
    await page.getByRole("button", { name: "Add assertion" }).click();
    const assertion = page.getByRole("group", { name: "Assertion 1" });
    await page
      .getByText("What an answer must be, such as a text in its body, a header or a time.", { exact: true })
      .waitFor();
    assert.equal(await page.getByText("The last test").count(), 0, "there is no test here");
    await assertion.getByLabel("Comparison").selectOption("matches");
    await assertion.getByLabel("Pattern (RE2)").fill("(");
    await assertion.locator("input[aria-invalid=true]").waitFor(); // it is refused for all of them
    await assertion.getByLabel("Pattern (RE2)").fill(".*");
    await page.getByText("Assertions: Nothing → those above for 3 targets").waitFor();
    await page.getByLabel("Set the rule").check();
    await page.getByLabel("Failing results in a row", { exact: false }).first().fill("3");
    await page.getByText("Rule: the default → the one above for 3 targets").waitFor();
    assert.deepEqual(await axeViolations(page), []);
    await shoot(page, "bulk-more-1280-light");
    await page.getByRole("button", { name: "Change 3 targets" }).click();
    await all(
      "they are set",
      ({ assertions, expect, family, parent_id, policy }) =>
        assertions.length === 1 &&
        expect.status.join() === "200-299,404" &&
        family === "4" &&
        parent_id === router.id &&
        policy.down_after === 3,
    );
    await page.getByText("3 targets changed.").first().locator("..").getByRole("button", { name: "Undo" }).click();
    await all("they are as before", (target) => target.parent_id === null && target.family === "");
    await page.locator(".toast", { hasText: "Tested at once: 3. All are up." }).first().waitFor();
    const own = ({ assertions, expect, family, parent_id, policy, interval_s, tags }) => ({
      expect,
      family,
      parent_id,
      policy,
      interval_s,
      tags,
      assertions,
    });
    assert.deepEqual((await Promise.all(targets.map(read))).map(own), before.map(own));
    await must("DELETE", `/targets/${router.id}`);
    assert.deepEqual(trouble, []);
    await context.close();
  },
);

test("a filter is saved under a name, and opened by it", async () => {
  const { context, page, trouble } = await signedIn(`/?q=${run}&sort=name`);
  await page.getByRole("button", { name: "Saved views" }).click();
  await page.getByRole("menuitem", { name: "Save this filter and order" }).click();
  await page.getByLabel("Name", { exact: true }).fill("Animals");
  await page.keyboard.press("Enter");
  await page.goto(settings.base.href);
  await page.getByRole("button", { name: "Saved views" }).click();
  await page.getByRole("menuitem", { name: "Animals", exact: true }).click();
  await page.waitForURL(new RegExp(`q=${run}.*sort=name`));
  assert.deepEqual(trouble, []);
  await context.close();
});

test("the palette finds targets, pages and actions; ? lists the keys", async () => {
  const { context, page, trouble } = await signedIn("/fleet");
  await page.getByRole("heading", { level: 1, name: "Fleet" }).waitFor();
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Find" }).waitFor();
  await page.keyboard.type(`bee ${run}`);
  await page.getByRole("option", { name: `Bee ${run}` }).waitFor();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: `Bee ${run}` }).waitFor();
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Find" }).waitFor();
  await page.keyboard.type("notification");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "Notification rules" }).waitFor();
  await Promise.all(["g", "i"].map((key) => page.keyboard.press(key))); // a pair: they come within a second
  await page.getByRole("heading", { level: 1, name: "Incidents" }).waitFor();
  await page.keyboard.press("?");
  await page.getByRole("heading", { name: "Keyboard shortcuts" }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("heading", { name: "Keyboard shortcuts" }).waitFor({ state: "detached" });
  assert.deepEqual(trouble, []);
  await context.close();
});

test(
  "where a range begins before what is kept, it says so; the last label of the time is whole",
  verifyOnly,
  async () => {
    const { context, page, trouble } = await signedIn("/settings");
    const kept = "2026-01-31T12:00:00.000Z";
    // As a server answers that has dropped older figures: it is made to keep them for years.
    await page.route(/\/targets\/\d+\/(series|uptime)\?/, async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, json: { ...(await response.json()), kept_since: kept } });
    });
    await page.goto(new URL(`/targets/${targets[0].id}`, settings.base).href);
    const performance = page.getByRole("region", { name: "Response time" });
    await performance.getByText("Kept since 31 Jan 2026", { exact: false }).waitFor();
    await page
      .getByRole("region", { name: "A year of days", exact: true })
      .getByText("Kept since 31 Jan 2026", { exact: false })
      .waitFor();
    await until("every uptime says it", async () => (await page.locator(".stat .kept-note").count()) === 4);
    const room = await page.locator(".plot").evaluate((plot) => {
      const right = (what) => plot.querySelector(what).getBoundingClientRect().right;
      return right("canvas") - right(".u-over");
    });
    assert.ok(room >= 20, `${room} px right of the chart: half of a label is about as wide`);
    assert.deepEqual(trouble, []);
    await context.close();
  },
);

test("t tests a target now, and its figures are there as tables and files", async () => {
  const from = new Date(Date.now() - 86_400_000).toISOString();
  const stored = async () => (await must("GET", `/targets/${targets[0].id}/uptime?from=${from}&by=day`)).checks > 0;
  await until("results are stored", stored, { everyMs: 1_000 });
  const { context, page, trouble } = await signedIn(`/targets/${targets[0].id}?range=90d`);
  await page.getByRole("heading", { level: 1, name: `Ant ${run}` }).waitFor();
  await page.keyboard.press("t");
  await page
    .getByText(/Ant .*: up from/)
    .first()
    .waitFor();
  const year = page.getByRole("region", { name: "A year of days", exact: true });
  await year.getByRole("button", { name: "Table" }).click();
  await year.getByRole("columnheader", { name: "Downtime minutes" }).waitFor();
  const [file] = await Promise.all([page.waitForEvent("download"), year.getByRole("button", { name: "CSV" }).click()]);
  assert.match(await readFile(await file.path(), "utf8"), /^Day,State,Uptime,.*\r\n\d{4}-\d\d-\d\d,Up,/);
  assert.deepEqual(trouble, []);
  await context.close();
});

test("the first rows and all counts are there before the snapshot is", verifyOnly, async () => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, storageState: state });
  const page = await context.newPage();
  const trouble = watchPage(page);
  let come;
  const held = new Promise((resolve) => {
    come = resolve;
  });
  await page.route("**/api/v1/live/snapshot*", async (route) => {
    await held;
    await route.continue();
  });
  await page.goto(settings.base.href);
  const rows = () => page.locator("[data-row]").evaluateAll((all) => all.map((row) => row.dataset.row));
  await page.locator("[data-row]").first().waitFor();
  const first = await rows();
  const { total } = await must("GET", "/live/overview?first=0");
  assert.equal(await page.locator(".rows li").first().getAttribute("aria-setsize"), String(total));
  const told = (await page.locator(".strip b").allInnerTexts()).reduce((sum, one) => sum + Number(one), 0);
  assert.equal(told, total, "every target is counted");
  assert.match(await page.locator("h1").innerText(), /target|up|watched|maintenance|paused/i);
  // A search goes through all, so it waits for all.
  await page.getByRole("searchbox").fill(run);
  await page.locator(".list-skeleton").waitFor();
  await page.getByRole("searchbox").fill("");
  await page.locator("[data-row]").first().waitFor();
  come();
  await page.locator("[data-link=live]").waitFor();
  // Their states may have changed meanwhile: they stand as the server orders them.
  await until("the first rows stand where they stood", async () => {
    const { items } = await must("GET", `/live/overview?first=${first.length}`);
    return items.map(({ id }) => String(id)).join() === (await rows()).slice(0, first.length).join();
  });
  await page.getByRole("searchbox").fill(run);
  await until("all that match", async () => (await rows()).length === targets.length);
  assert.deepEqual(trouble, []);
  await context.close();
});

test("in every mode: no overflow, no axe violation, nothing on the console", verifyOnly, async () => {
  const found = await inEveryMode(browser, state, [
    [
      "overview-selected",
      `/?q=${run}&sort=name`,
      async (page) => {
        await page.getByRole("checkbox", { name: `Select Ant ${run}` }).check();
        await page.getByText("1 selected").waitFor();
      },
    ],
    [
      "bulk-edit",
      `/?q=${run}&sort=name`,
      async (page) => {
        await page.getByRole("checkbox", { name: `Select Ant ${run}` }).check();
        await page.getByRole("button", { name: "Edit" }).first().click();
        await page.getByLabel("Timeout (seconds)").fill("3");
        await page.getByText("1 target will change").waitFor();
      },
    ],
    [
      "palette",
      "/settings",
      async (page) => {
        await page.getByRole("heading", { name: "Appearance" }).waitFor();
        await page.keyboard.press("Control+k");
        await page.getByRole("combobox", { name: "Find" }).fill(run);
        await page.locator("[role=option]").first().waitFor();
      },
    ],
    [
      "figures",
      `/targets/${targets[0].id}`,
      async (page) => {
        await page.locator(".matrix-row").first().waitFor();
        await page.locator(".histogram").waitFor();
        await page.locator(".year svg").waitFor();
      },
    ],
  ]);
  assert.deepEqual(found, []);
  for (const target of targets) await must("DELETE", `/targets/${target.id}`);
});
