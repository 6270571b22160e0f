// The way through the login page in a real browser: who opens a deep address arrives there in the end,
// and is sent to the login page once. Of somebody invited, who can be signed out elsewhere.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  api,
  enter,
  invited,
  must,
  openPage,
  settings,
  signIn,
  startBrowser,
  unlessSignedOut,
  verifyOnly,
} from "./harness.mjs";

const run = Date.now().toString(36);
const email = `kim-${run}@example.com`;
let browser;
let target;

before(async () => {
  browser = await startBrowser();
  await signIn(browser);
  await invited(browser, email, "Kim");
  target = await must("POST", "/targets", { url: `https://signon-${run}.example.com/`, active: false });
});
after(async () => {
  const { id } = (await must("GET", "/users?limit=1000")).items.find((one) => one.email === email);
  await api("DELETE", `/users/${id}`);
  await api("DELETE", `/targets/${target.id}`);
  await browser?.close();
});

/** Every address that the page has had since, one entry for each time that it changed. */
function ways(page) {
  const seen = [];
  page.on("framenavigated", (frame) => {
    const { pathname, search } = new URL(frame.url());
    if (frame === page.mainFrame() && seen.at(-1) !== pathname + search) seen.push(pathname + search);
  });
  return seen;
}

const depth = (page) => page.evaluate(() => history.length);
const loginOf = (path) => `/login?next=${encodeURIComponent(path)}`;

test("a deep address, signed out: the login page once, and there in the end", async () => {
  const deep = `/targets/${target.id}?range=7d`;
  const { context, page, trouble } = await openPage(browser, undefined, "/login");
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  const before = await depth(page);
  const seen = ways(page);
  await page.goto(new URL(deep, settings.base).href);
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  assert.deepEqual(seen, [deep, loginOf(deep)]);
  assert.equal(await depth(page), before + 1, "the login page has the place of the one that was asked for");
  await enter(page, email, settings.password);
  await page.getByRole("heading", { level: 1, name: `signon-${run}.example.com` }).waitFor();
  assert.deepEqual(seen, [deep, loginOf(deep), deep]);
  assert.equal(await depth(page), before + 1);
  assert.deepEqual(trouble.filter(unlessSignedOut), []);
  await context.close();
});

test("the overview needs no address to come back to", verifyOnly, async () => {
  const { context, page, trouble } = await openPage(browser, undefined, "/");
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  assert.equal(page.url(), new URL("/login", settings.base).href);
  await enter(page, email, settings.password);
  await page.getByRole("button", { name: "Add target" }).first().waitFor();
  assert.equal(page.url(), settings.base.href);
  assert.deepEqual(trouble.filter(unlessSignedOut), []);
  await context.close();
});

test("a session that ends while a page is open: the login page once, and back", async () => {
  const deep = `/targets/${target.id}?range=24h`;
  const { context, page, trouble } = await openPage(browser, undefined, loginOf(deep));
  await enter(page, email, settings.password);
  await page.locator('[data-link="live"]').first().waitFor();
  const before = await depth(page);
  const seen = ways(page);
  const ended = await page.evaluate(() =>
    fetch("/api/v1/session", { method: "DELETE" }).then((answer) => answer.status),
  );
  assert.equal(ended, 204);
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  assert.deepEqual(seen, [loginOf(deep)]);
  assert.equal(await depth(page), before);
  await enter(page, email, settings.password);
  await page.getByRole("heading", { level: 1, name: `signon-${run}.example.com` }).waitFor();
  assert.deepEqual(seen, [loginOf(deep), deep]);
  assert.equal(await depth(page), before);
  assert.deepEqual(trouble.filter(unlessSignedOut), []);
  await context.close();
});
