// A region that falls silent and comes back while the pages are open, in a real browser.
// GONE_REGION is one with one prober, whose process PROBER_PID is held up and let go on.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { axeViolations, openPage, overflow, settings, shoot, signIn, startBrowser } from "./harness.mjs";

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

test("an open overview says that a region fell silent, and that it is back", async () => {
  const { context, page, trouble } = await openPage(browser, state, "/");
  const banner = page.getByText(`Region ${region} stopped reporting`, { exact: false });
  await page.locator("[data-link=live]").waitFor();
  await page.evaluate(() => {
    window.sameDocument = true;
  });
  assert.equal(await banner.count(), 0);

  process.kill(prober, "SIGSTOP");
  await banner.waitFor({ timeout: 90_000 });
  assert.deepEqual(await axeViolations(page), []);
  await shoot(page, "silent-region-1280-light");
  await page.setViewportSize({ width: 390, height: 844 });
  assert.equal(await overflow(page), 0);
  await shoot(page, "silent-region-390-light");

  process.kill(prober, "SIGCONT");
  await banner.waitFor({ state: "detached", timeout: 60_000 });
  assert.ok(await page.evaluate(() => window.sameDocument), "the page was never loaded again");
  assert.deepEqual(trouble, []);
  await context.close();
});
