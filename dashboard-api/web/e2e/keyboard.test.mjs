// One way through the dashboard without a mouse, to its end: add, test, save, incident, delete and undo.
// Then every key that the help lists.
// By itself or after the others: it makes the account when there is none.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { api, must, openPage, signIn, startBrowser, tabTo, until, verifyOnly } from "./harness.mjs";

const run = Date.now().toString(36);
let browser;
let state; // the signed-in browser's cookies
let status = 200;
const server = createServer((_, response) => response.writeHead(status).end());

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

test("without a mouse: add, test, save, incident, delete, undo", async () => {
  const { context, page, trouble } = await openPage(browser, state, "/");
  const press = (key) => page.keyboard.press(key);
  const enter = async (what) => {
    await what.waitFor();
    await tabTo(page, what);
    await press("Enter");
  };
  const title = (name) => page.getByRole("heading", { level: 1, name }).waitFor();

  await page.locator("[data-link=live]").first().waitFor();
  await press("c");
  await page.locator("input[name=url]:focus").waitFor();
  await page.keyboard.type(`http://127.0.0.1:${server.address().port}/keys-${run}`);
  await press("Tab");
  await press("ControlOrMeta+a");
  await page.keyboard.type("2");
  await enter(page.locator("dialog").getByRole("button", { name: "Test now" }));
  await page.locator("[data-test=ended]").waitFor();
  assert.deepEqual((await must("GET", `/targets?search=keys-${run}`)).items, [], "a test saves nothing");
  await enter(page.locator("dialog").getByRole("button", { name: "Start watching" }));
  await page.locator("dialog").waitFor({ state: "detached" });
  const added = await until(
    "the target is saved",
    async () => (await must("GET", `/targets?search=keys-${run}`)).items[0],
  );

  await press("/");
  await page.keyboard.type(`keys-${run}`);
  await press("Tab");
  const row = page.locator(`[data-row="${added.id}"]`);
  await page.locator(".rows li", { has: row }).locator("> .state-icon.s-up").waitFor();
  await press("j");
  await row.and(page.locator(":focus")).waitFor();
  await press("Enter");
  await page.waitForURL(new RegExp(`/targets/${added.id}$`));

  status = 500;
  await Promise.all([press("g"), press("i")]); // a pair: they come within a second
  await title("Incidents");
  const ours = page.locator("[data-incidents=open] [data-incident]", { hasText: `keys-${run}` });
  await ours.waitFor();
  for (let i = 0; i < 30 && !(await ours.evaluate((link) => link === document.activeElement)); i++) await press("j");
  await press("Enter");
  await page.waitForURL(/\/incidents\/\d+$/);
  await enter(page.getByRole("button", { name: "Acknowledge" }));
  await page.getByText("You acknowledged it").waitFor();
  await enter(page.getByRole("link", { name: "Open the target" }));
  await page.waitForURL(new RegExp(`/targets/${added.id}$`));

  await enter(page.getByRole("button", { name: "Delete" }));
  await page.waitForURL((url) => url.pathname === "/");
  const toast = page.locator(".toast", { hasText: "deleted." });
  await toast.getByText("z", { exact: true }).waitFor(); // it says its key
  await page.getByRole("status").filter({ hasText: "Undo is available, with the key z." }).waitFor();
  await press("z");
  await toast.waitFor({ state: "detached" });
  await press("/");
  await page.keyboard.type(`keys-${run}`);
  await press("Tab");
  await row.waitFor();
  assert.equal((await api("GET", `/targets/${added.id}`)).status, 200, "it was never gone");
  await press("j");
  await row.and(page.locator(":focus")).waitFor();
  await press("Enter");
  await page.waitForURL(new RegExp(`/targets/${added.id}$`));
  await enter(page.getByRole("button", { name: "Delete" }));
  await toast.waitFor();
  await until("it is gone", async () => (await api("GET", `/targets/${added.id}`)).status === 404);
  assert.deepEqual(trouble, []);
  await context.close();
});

test("every key of the help does what it says, and none while somebody types", verifyOnly, async () => {
  status = 200;
  const site = `http://127.0.0.1:${server.address().port}`;
  const [one, two] = await Promise.all(
    ["One", "Two"].map((name) =>
      must("POST", "/targets", { url: `${site}/${name}-${run}`, name: `${name} line ${run}`, interval_s: 3600 }),
    ),
  );
  const shown = await must("POST", "/status-pages", { slug: `keys-${run}`, title: `Keys ${run}` });
  const { context, page, trouble } = await openPage(browser, state, `/?q=line+${run}&sort=name`);
  const press = (key) => page.keyboard.press(key);
  const pair = (keys) => Promise.all(keys.split(" ").map(press)); // they come within a second
  const row = (target) => page.locator(`[data-row="${target.id}"]`);
  const focused = (what) => what.and(page.locator(":focus")).waitFor();
  const selected = (n) => until(`${n} selected`, async () => (await page.locator("[data-selected]").count()) === n);
  const gone = (what) => what.waitFor({ state: "detached" });
  const dialog = page.locator("dialog[open]");
  const search = page.getByRole("searchbox");
  const goes = (keys, heading, path) => async () => {
    await pair(keys);
    await page.getByRole("heading", { level: 1, name: heading }).waitFor();
    await page.waitForURL((url) => path.test(url.pathname));
  };
  await row(two).waitFor();

  let listed = [];
  const keys = {
    "?": async () => {
      await press("?");
      await dialog.getByRole("heading", { name: "Keyboard shortcuts" }).waitFor();
      listed = await dialog
        .locator("dt")
        .evaluateAll((all) => all.map((dt) => [...dt.children].map((kbd) => kbd.textContent).join(" ")));
    },
    Esc: async () => {
      await press("Escape");
      await gone(dialog);
      await row(one).locator("xpath=ancestor::li").getByRole("checkbox").click();
      await selected(1);
      await press("Escape"); // also where the mouse left the focus on the box
      await selected(0);
    },
    j: async () => {
      await press("j"); // on from the line of that box
      await focused(row(two));
    },
    k: async () => {
      await press("k");
      await focused(row(one));
    },
    x: async () => {
      await press("x");
      await selected(1);
      await press("j");
      await press("Shift+X");
      await selected(2);
      await press("Escape");
      await selected(0);
      await focused(row(two));
    },
    t: async () => {
      await press("t");
      await page.locator(".toast", { hasText: `Two line ${run} is tested from` }).waitFor();
      await page.locator(".toast", { hasText: `Two line ${run}: up from` }).waitFor();
    },
    c: async () => {
      await press("c");
      await dialog.getByRole("heading", { name: "Add target" }).waitFor();
      await press("Escape");
      await gone(dialog);
    },
    "/": async () => {
      await press("/");
      await focused(search);
      const asked = [];
      const note = (request) => request.method() !== "GET" && asked.push(request.url());
      page.on("request", note);
      const typed = "gogigmgpgrgfgs?cjkxXetz/";
      await search.fill("");
      await page.keyboard.type(typed);
      assert.equal(await search.inputValue(), typed);
      await press("Escape");
      await gone(search.and(page.locator(":focus")));
      await search.fill(`line ${run}`);
      await row(two).waitFor();
      await page.getByLabel("Sort by").focus();
      await pair("g f ? c x t");
      await page.getByLabel("Sort by").selectOption("name");
      assert.deepEqual([new URL(page.url()).pathname, await dialog.count(), asked], ["/", 0, []]);
      await selected(0);
      page.off("request", note);
      await row(two).focus();
    },
    Enter: async () => {
      await press("Enter");
      await page.waitForURL(new RegExp(`/targets/${two.id}$`));
      await page.getByRole("heading", { level: 1, name: `Two line ${run}` }).waitFor();
    },
    e: async () => {
      await press("e");
      await dialog.getByRole("button", { name: "Save changes" }).waitFor();
      await press("Escape");
      await gone(dialog);
    },
    z: async () => {
      await page.getByRole("button", { name: "Delete" }).click();
      const toast = page.locator(".toast", { hasText: "deleted." });
      await toast.waitFor();
      await press("z");
      await gone(toast);
      await row(two).waitFor();
      assert.equal((await api("GET", `/targets/${two.id}`)).status, 200);
    },
    "Ctrl K": async () => {
      await press("Control+k");
      await focused(dialog.getByRole("combobox", { name: "Find" }));
      await press("Escape");
      await gone(dialog);
    },
    "g i": goes("g i", "Incidents", /^\/incidents$/),
    "g m": goes("g m", "Maintenance", /^\/maintenance$/),
    "g p": goes("g p", "Status pages", /^\/settings\/pages$/),
    "Ctrl S": async () => {
      await page.getByRole("link", { name: `Keys ${run}` }).click();
      const sentence = page.getByLabel("A sentence about it (optional)");
      await sentence.fill("");
      await page.keyboard.type("g f?ctexjkz/");
      assert.equal(await sentence.inputValue(), "g f?ctexjkz/");
      await press("Control+s");
      await page.getByText("Everything is saved.").first().waitFor();
      assert.equal((await must("GET", `/status-pages/${shown.id}`)).description, "g f?ctexjkz/");
      await sentence.blur();
    },
    "g r": goes("g r", /./, /^\/reports\/\d{4}-\d\d$/),
    "g f": goes("g f", "Fleet", /^\/fleet$/),
    "g s": goes("g s", "Settings", /^\/settings$/),
    "g o": goes("g o", /./, /^\/$/),
  };
  for (const does of Object.values(keys)) await does();
  assert.deepEqual(listed.toSorted(), Object.keys(keys).toSorted(), "each key of the help was tried");
  assert.deepEqual(trouble, []);
  await context.close();
  for (const { id } of [one, two]) await must("DELETE", `/targets/${id}`);
  await must("DELETE", `/status-pages/${shown.id}`);
});
