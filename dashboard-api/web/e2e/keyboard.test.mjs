// One way through the dashboard without a mouse, to its end: add, test, save, incident, delete and undo.
// By itself or after the others: it makes the account when there is none.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { api, must, openPage, signIn, startBrowser, tabTo, until } from "./harness.mjs";

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
  await page.keyboard.type("10");
  await enter(page.locator("dialog").getByRole("button", { name: "Test now" }));
  await page.locator("[data-test=ended]").waitFor({ timeout: 30_000 });
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
  await page.locator(".rows li", { has: row }).locator("> .state-icon.s-up").waitFor({ timeout: 40_000 });
  await press("j");
  await row.and(page.locator(":focus")).waitFor();
  await press("Enter");
  await page.waitForURL(new RegExp(`/targets/${added.id}$`));

  status = 500;
  await press("g");
  await press("i");
  await title("Incidents");
  const ours = page.locator("[data-incidents=open] [data-incident]", { hasText: `keys-${run}` });
  await ours.waitFor({ timeout: 90_000 });
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
  await page.getByRole("status").getByText("Undo is available, with the key z.", { exact: false }).waitFor();
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
  await until("it is gone", async () => (await api("GET", `/targets/${added.id}`)).status === 404, { seconds: 30 });
  assert.deepEqual(trouble, []);
  await context.close();
});
