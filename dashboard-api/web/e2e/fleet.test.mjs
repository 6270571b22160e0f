// What an owner does about a region that is gone, in a real browser: it is retired, its prober forgotten.
// GONE_REGION is one whose only prober has been killed; it is silent after three of its heartbeats.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  axeViolations,
  inEveryMode,
  must,
  openPage,
  settings,
  shoot,
  signIn,
  startBrowser,
  until,
} from "./harness.mjs";

const region = settings.goneRegion;
let browser;
let state; // the owner's cookies

before(async () => {
  assert.ok(region, "GONE_REGION is not set: a region whose only prober has been killed");
  browser = await startBrowser();
  state = await signIn(browser);
});
after(() => browser?.close());

const plan = async () => (await must("GET", "/regions")).items.find((one) => one.region === region);
const prober = async () =>
  (await must("GET", "/fleet")).regions.find((one) => one.region === region)?.probers?.find(() => true);

test("by keyboard: a silent region is retired, after what that means was said", { timeout: 150_000 }, async () => {
  const { context, page, trouble } = await openPage(browser, state, "/fleet");
  const card = page.getByRole("region", { name: `Region ${region}`, exact: true });
  await card.getByText("silent").waitFor({ timeout: 90_000 });
  const retire = card.getByRole("button", { name: "Retire" });
  await retire.focus();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: `Retire ${region}?` }).waitFor();
  await page.getByText("What was measured stays in every log", { exact: false }).waitFor();
  assert.deepEqual(await axeViolations(page), []);
  await shoot(page, "retire-1280-light");
  await page.keyboard.press("Escape");
  await page.locator("dialog").waitFor({ state: "detached" });
  assert.equal((await plan()).state, "active", "nothing was done yet");
  await retire.click();
  const found = await inEveryMode(browser, state, [
    [
      "retire",
      "/fleet",
      async (page) => {
        await page
          .getByRole("region", { name: `Region ${region}`, exact: true })
          .getByRole("button", { name: "Retire" })
          .click();
        await page.getByRole("heading", { name: `Retire ${region}?` }).waitFor();
      },
    ],
  ]);
  assert.deepEqual(found, []);
  await page.getByRole("button", { name: `Retire ${region}` }).click();
  await page.getByText(`${region} is retired. Its history stays.`).first().waitFor();
  await until("retired in the API", async () => ["leaving", "retired"].includes((await plan()).state));
  await retire.waitFor({ state: "detached" });
  assert.deepEqual(trouble, []);
  await context.close();
});

test("a prober that has ended is forgotten, after asking", { timeout: 150_000 }, async () => {
  const { context, page, trouble } = await openPage(browser, state, "/fleet");
  const { name } = await until("the prober of before", prober);
  const forget = page.getByRole("button", { name: `Forget ${name}` });
  await forget.waitFor({ timeout: 90_000 });
  await forget.click();
  await page.getByText("If it is started again, it comes back.", { exact: false }).waitFor();
  assert.deepEqual(await axeViolations(page), []);
  await shoot(page, "forget-1280-light");
  await page.getByRole("button", { name: "Keep it" }).click();
  await page.locator("dialog").waitFor({ state: "detached" });
  assert.ok(await prober(), "nothing was done yet");
  await forget.click();
  await page
    .locator("dialog")
    .getByRole("button", { name: `Forget ${name}` })
    .click();
  await page.getByText(`${name} is forgotten.`, { exact: false }).first().waitFor();
  await until("gone in the API", async () => (await prober()) === undefined);
  await forget.waitFor({ state: "detached" });
  assert.deepEqual(trouble, []);
  await context.close();
});
