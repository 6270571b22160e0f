// Single sign-on in a real browser, with a provider that asks who one is.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  axeViolations,
  enter,
  must,
  openPage,
  settings,
  shoot,
  signIn,
  startBrowser,
  unlessSignedOut,
} from "./harness.mjs";

const email = "ann@example.com";
let browser;

before(async () => {
  browser = await startBrowser();
  await signIn(browser); // there is an owner
});
after(() => browser?.close());

test("by the provider to where one wanted to go, and by it once more for what needs a fresh sign-in", async () => {
  const { context, page, trouble } = await openPage(browser, undefined, "/settings/account");
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  assert.deepEqual(await axeViolations(page), []);
  await shoot(page, "login-provider-1280-light");
  const atProvider = async () => {
    await page.getByLabel("Who are you?").fill("ann");
    await page.getByRole("button", { name: "Go on" }).click();
    await page.getByRole("heading", { name: "Password" }).waitFor();
    assert.equal(page.url(), new URL("/settings/account", settings.base).href);
  };
  await page.getByRole("button", { name: "Continue with Example Ltd" }).click();
  await atProvider();
  const ann = (await must("GET", "/users?limit=1000")).items.find((one) => one.email === email);
  assert.equal(ann.role, "editor");
  assert.deepEqual(await axeViolations(page), []);
  await shoot(page, "account-provider-1280-light", true);

  const card = page.locator("section", { has: page.getByRole("heading", { name: "Password" }) });
  await card.getByText("This needs a sign-in of the last ten minutes", { exact: false }).waitFor();
  await card.getByRole("button", { name: "Sign in again with Example Ltd" }).click();
  await atProvider(); // which asks, though it knows her
  await card.getByLabel("New password").fill(settings.password);
  await page.keyboard.press("Enter");
  await page.getByText("The password is set.", { exact: false }).first().waitFor();
  await card.getByLabel("Current password").waitFor();

  await context.clearCookies();
  await page.goto(new URL("/login", settings.base).href);
  await enter(page, email, settings.password);
  await page.getByRole("link", { name: "Settings" }).waitFor();
  assert.deepEqual(trouble.filter(unlessSignedOut), []);
  await context.close();
});

test("who may not come in by the provider is told so on the login page", async () => {
  const { context, page, trouble } = await openPage(browser, undefined, "/login");
  await page.getByRole("button", { name: "Continue with Example Ltd" }).click();
  await page.getByLabel("Who are you?").fill("bob"); // of a domain that may not come in
  await page.getByRole("button", { name: "Go on" }).click();
  await page.getByText("Nobody with an address of this domain may sign in here.", { exact: false }).waitFor();
  assert.equal(new URL(page.url()).pathname, "/login");
  assert.deepEqual(await axeViolations(page), []);
  await shoot(page, "login-domain-1280-light");
  assert.ok(!(await must("GET", "/users?limit=1000")).items.some((one) => one.email.startsWith("bob@")));
  assert.deepEqual(trouble.filter(unlessSignedOut), []);
  await context.close();
});
