// A region that falls silent and comes back while the pages are open, in a real browser.
// GONE_REGION is one with one prober, whose process PROBER_PID is held up and let go on.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { axeViolations, drawn, openPage, overflow, settings, shoot, signIn, startBrowser } from "./harness.mjs";

const region = settings.goneRegion;
const prober = Number(process.env.PROBER_PID ?? 0);
let browser;
let state; // the owner's cookies

before(async () => {
  assert.ok(region && prober, "GONE_REGION and PROBER_PID are not set: a region and its only prober");
  browser = await startBrowser();
  state = await signIn(browser);
});
after(async () => {
  process.kill(prober, "SIGCONT");
  await browser?.close();
});

const silent = (page) => page.getByText(`Region ${region} stopped reporting`, { exact: false });
/** Where what is on a page begins. */
const top = (page) => page.locator("h1").evaluate((h1) => h1.getBoundingClientRect().top);

test("open pages say that a region fell silent, and that it is back, and nothing on them moves", async () => {
  const { context, page, trouble } = await openPage(browser, state, "/");
  const other = await openPage(browser, state, "/settings/account");
  const banner = silent(page);
  for (const one of [page, other.page]) {
    await one.locator("[data-link=live]").waitFor();
    await one.locator("h1").waitFor();
  }
  const before = [await top(page), await top(other.page)];
  await page.evaluate(() => {
    window.sameDocument = true;
  });
  assert.equal(await banner.count(), 0);

  process.kill(prober, "SIGSTOP");
  await banner.waitFor();
  await silent(other.page).waitFor();
  assert.deepEqual([await top(page), await top(other.page)], before);
  assert.equal(await banner.count(), 1, "it is said once");
  assert.deepEqual(await axeViolations(page), []);
  await shoot(page, "silent-region-1280-light");
  await page.setViewportSize({ width: 390, height: 844 });
  await drawn(page);
  assert.equal(await overflow(page), 0);
  await shoot(page, "silent-region-390-light");
  for (const path of ["/incidents", "/maintenance", "/fleet", "/reports", "/settings/channels"]) {
    await other.page.goto(new URL(path, settings.base).href);
    await silent(other.page).waitFor();
    assert.equal(await silent(other.page).count(), 1, path);
  }
  await silent(other.page).click();
  await other.page.waitForURL("**/fleet");
  assert.deepEqual(await axeViolations(other.page), []);

  process.kill(prober, "SIGCONT");
  await banner.waitFor({ state: "detached" });
  assert.ok(await page.evaluate(() => window.sameDocument), "the page was never loaded again");
  await silent(other.page).waitFor({ state: "detached" });
  assert.deepEqual([...trouble, ...other.trouble], []);
  await other.context.close();
  await context.close();
});
