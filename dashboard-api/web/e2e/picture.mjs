// Takes the README's picture of a running installation, best one of
// `make run ARGS="--demo --regions eu-west,us-east,ap-south"` after a quarter of an hour:
//   BASE_URL=… API_KEY=… SETUP_LINK=… node e2e/picture.mjs ../../docs/images/overview.png
import { settings, startBrowser } from "./harness.mjs";

const browser = await startBrowser();
const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, colorScheme: "light" });
const page = await context.newPage();
const { setup_needed } = await (await fetch(new URL("/api/v1/session", settings.base))).json();
const link = new URL(settings.setupLink || "/login", settings.base);
await page.goto(new URL(setup_needed ? link.pathname + link.search : "/login", settings.base).href);
await page.getByLabel("E-mail").fill(settings.email);
await page.getByLabel("Password").fill(settings.password);
await page.keyboard.press("Enter");
if (setup_needed) await page.getByLabel("URLs").waitFor();
await page.goto(settings.base.href);
await page.locator("svg.ticks[data-count]:not([data-count='0'])").first().waitFor();
await page.waitForTimeout(2000);
await page.screenshot({ path: process.argv[2] });
for (const [name, path] of Object.entries(JSON.parse(process.argv[3] ?? "{}"))) {
  await page.goto(new URL(path, settings.base).href);
  await page.waitForTimeout(2500);
  await page.screenshot({ path: name, fullPage: true });
}
await browser.close();
