// Settings in a real browser: a channel is added and tried, a rule names it, both are deleted.
// By itself or after the others: it makes the account when there is none.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { inEveryMode, must, openPage, signIn, startBrowser, unlessRefused, until, verifyOnly } from "./harness.mjs";

const run = Date.now().toString(36);
const name = `Hook ${run}`;
let browser;
let state; // the signed-in browser's cookies
let channel;

before(async () => {
  browser = await startBrowser();
  state = await signIn(browser);
});
after(() => browser?.close());

const signedIn = (path) => openPage(browser, state, path);

// Promise: a notification channel is added and tested
test("by keyboard: a channel is added, a mistake is told at its field, a test shows what was said", async () => {
  const { context, page, trouble } = await signedIn("/settings/channels");
  await page.getByRole("button", { name: "Add channel" }).first().waitFor();
  await page.keyboard.press("c");
  await page.getByLabel("Name", { exact: true }).waitFor();
  await page.keyboard.type(name);
  await page.keyboard.press("Tab");
  for (const kind of ["slack", "webhook"]) {
    await page.keyboard.press("ArrowDown");
    assert.equal(await page.getByLabel("Kind").inputValue(), kind);
  }
  await page.getByLabel("Address").fill("ftp://127.0.0.1:9/hook");
  await page.getByLabel("Signing key").fill("a key of some length");
  await page.keyboard.press("Enter");
  await page.locator("input[aria-invalid=true]:focus").waitFor();
  assert.equal(await page.getByLabel("Address").getAttribute("aria-invalid"), "true");
  await page.getByLabel("Address").fill("http://127.0.0.1:9/hook");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name }).waitFor();
  channel = (await must("GET", "/channels?limit=1000")).items.find((one) => one.name === name);
  assert.equal(channel.webhook.url, "[secret]");

  await page.getByRole("button", { name: "Send test" }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "The test was not delivered" }).waitFor();
  assert.match(await page.locator("[data-transcript]").innerText(), /API_ALLOW_CIDRS/, "it says why");
  await page.getByRole("region", { name: "Deliveries as a table" }).getByText("Not delivered").first().waitFor();
  assert.deepEqual(trouble.filter(unlessRefused), []);
  await context.close();
});

test("a stored secret is kept when its field is left alone", async () => {
  const { context, page, trouble } = await signedIn(`/settings/channels/${channel.id}`);
  await page.getByRole("button", { name: "Edit" }).click();
  assert.equal(await page.getByLabel("Address").inputValue(), "");
  await page.getByLabel("Name", { exact: true }).fill(`${name} b`);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: `${name} b` }).waitFor();
  const saved = await must("GET", `/channels/${channel.id}`);
  assert.ok(saved.readable && saved.webhook.secret === "[secret]");
  await page.getByRole("button", { name: "Turn off" }).click();
  await page.getByRole("button", { name: "Turn on" }).waitFor();
  assert.equal((await must("GET", `/channels/${channel.id}`)).enabled, false);
  assert.deepEqual(trouble, []);
  await context.close();
});

test("a rule names the channel, is turned off, deleted, and taken back", async () => {
  const { context, page, trouble } = await signedIn("/settings/rules");
  await page.getByRole("button", { name: "Add rule" }).first().waitFor();
  await page.locator("button:enabled", { hasText: "Add rule" }).first().click();
  await page.getByLabel("Name", { exact: true }).fill(`Team ${run}`);
  await page.keyboard.press("Enter");
  await page.getByText("Choose whom to tell, here or in an escalation.").waitFor();
  await page.getByRole("group", { name: "Tell", exact: true }).getByLabel(`${name} b (off)`).check();
  await page.getByRole("button", { name: "Add escalation" }).click();
  await page.getByRole("group", { name: "Tell", exact: true }).nth(1).getByLabel(`${name} b (off)`).check();
  await page.getByRole("button", { name: "Add quiet hours" }).click();
  await page.getByRole("button", { name: "Add rule" }).last().click();
  await page.locator("dialog").waitFor({ state: "detached" });
  const rule = async () =>
    (await must("GET", "/notification-rules?limit=1000")).items.find((one) => one.name === `Team ${run}`);
  const saved = await rule();
  assert.deepEqual(saved.channel_ids, [channel.id]);
  assert.equal(saved.escalations[0].after_minutes, 15);
  assert.deepEqual(saved.quiet_hours, [{ from: "22:00", to: "07:00" }]);
  const menu = page.getByRole("button", { name: `Actions for Team ${run}` });
  await menu.focus();
  await page.keyboard.press("Enter");
  await page.getByRole("menuitem", { name: "Turn off" }).press("Enter");
  await until("it is off", async () => !(await rule()).enabled);
  await menu.click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  await menu.waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Undo" }).click();
  await menu.waitFor();
  assert.ok(await rule(), "it was never gone");
  assert.deepEqual(trouble, []);
  await context.close();
});

test("in every mode: no overflow, no axe violation, nothing on the console", verifyOnly, async () => {
  const found = await inEveryMode(browser, state, [
    [
      "settings",
      "/settings",
      (page) =>
        page
          .getByRole("region", { name: "How long history is kept" })
          .getByRole("row", { name: "Every result, with its phases RETENTION_RAW 30 d" })
          .waitFor(),
    ],
    ["channels", "/settings/channels", (page) => page.locator(".entry").first().waitFor()],
    [
      "channel",
      `/settings/channels/${channel.id}`,
      (page) => page.getByRole("region", { name: "Deliveries as a table" }).waitFor(),
    ],
    [
      "channel-new",
      "/settings/channels",
      async (page) => {
        await page.getByRole("button", { name: "Add channel" }).first().click();
        await page.locator("dialog").getByRole("button", { name: "Add channel" }).click();
        await page.locator("[aria-invalid=true]").first().waitFor();
      },
    ],
    ["rules", "/settings/rules", (page) => page.locator(".entry").first().waitFor()],
    [
      "rule-edit",
      "/settings/rules",
      async (page) => {
        await page.getByRole("button", { name: `Team ${run}`, exact: true }).click();
        await page.getByRole("button", { name: "Add hours of the rule" }).click();
      },
    ],
  ]);
  assert.deepEqual(found, []);
});
