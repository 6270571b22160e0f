// An account of one's own in a real browser: the second factor from its QR code to the sign-in
// that asks for it, the password, the sessions. Of somebody invited, so that the owner stays as is.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  api,
  axeViolations,
  codeOf,
  enter,
  inEveryMode,
  invited,
  modes,
  must,
  openPage,
  overflow,
  settings,
  shoot,
  startBrowser,
  until,
  verifyOnly,
} from "./harness.mjs";

const run = Date.now().toString(36);
const email = `sam-${run}@example.com`;
const second = "another battery staple";
let browser;
let state; // of somebody with an account of their own
let secret;
let recovery;

// What the browser says by itself of a form that was sent with a mistake in it, or a wrong password.
const refused = (line) => !/the server responded with a status of (401|403|412|422|429)/.test(line);

before(async () => {
  browser = await startBrowser();
  state = await invited(browser, email, "Sam");
});
after(() => browser?.close());

test("by keyboard: a second factor is set up, with a wrong password and a wrong code told at their fields", async () => {
  const { context, page, trouble } = await openPage(browser, state, "/settings/account");
  await page.getByRole("button", { name: "Set up" }).focus();
  await page.keyboard.press("Enter");
  await page.locator("dialog input[type=password]:focus").waitFor();
  await page.keyboard.type("not the password");
  await page.keyboard.press("Enter");
  await page.locator("dialog input[aria-invalid=true]:focus").waitFor();
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.type(settings.password);
  await page.keyboard.press("Enter");
  await page.getByRole("img", { name: /^QR code/ }).waitFor();
  secret = await page.locator("dialog code").innerText();
  assert.match(secret, /^[A-Z2-7]{16,}$/);
  await page.locator("dialog input:focus").waitFor();
  assert.deepEqual(await axeViolations(page), []);
  await shoot(page, "factor-scan-1280-light");
  await page.keyboard.type("000000");
  await page.keyboard.press("Enter");
  await page.locator("dialog input[aria-invalid=true]:focus").waitFor();
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.type(codeOf(secret));
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Keep your recovery codes" }).waitFor();
  recovery = (await page.locator("dialog code").innerText()).split("\n");
  assert.equal(recovery.length, 10);
  assert.deepEqual(await axeViolations(page), []);
  await shoot(page, "factor-recovery-1280-light");
  const file = page.waitForEvent("download");
  await page.getByRole("button", { name: "Download as a file" }).click();
  assert.equal((await file).suggestedFilename(), "probefleet-recovery-codes.txt");
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Show it again" }).click();
  assert.equal(await page.locator("dialog code").innerText(), recovery.join("\n"), "Escape alone does not close it");
  await page.getByRole("button", { name: "I have kept them" }).click();
  await page.getByText("10 recovery codes left", { exact: false }).waitFor();
  assert.deepEqual(trouble.filter(refused), []);
  await context.close();
});

// Promise: two-factor authentication asks for a code
test("signing in asks for a code: a wrong one is told, the app's and a recovery code count once", async () => {
  const { context, page, trouble } = await openPage(browser, undefined, "/login?next=/settings/account");
  await enter(page, email, settings.password);
  await page.getByLabel("Code").waitFor();
  for (const { name: mode, ...options } of modes) {
    await page.setViewportSize(options.viewport);
    await page.emulateMedia({ colorScheme: options.colorScheme, forcedColors: options.forcedColors ?? "none" });
    assert.equal(await overflow(page), 0, mode);
    assert.deepEqual(await axeViolations(page), [], mode);
    await shoot(page, `login-code-${mode}`);
  }
  await page.getByLabel("Code").fill("000000");
  await page.keyboard.press("Enter");
  await page.locator("input[name=code][aria-invalid=true]:focus").waitFor();
  await page.getByLabel("Code").fill(codeOf(secret, 1)); // the one of now was used to set it up
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Your account" }).waitFor();
  assert.deepEqual(trouble.filter(refused), []);
  await context.close();

  // As the way back from the provider of single sign-on leads here.
  const begun = await fetch(new URL("/api/v1/session", settings.base), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ email, password: settings.password }),
  });
  const { challenge } = (await begun.json()).second_factor;
  const again = await openPage(browser, undefined, `/login#challenge=${encodeURIComponent(challenge)}`);
  await again.page.getByLabel("Code").fill(recovery[0]);
  await again.page.keyboard.press("Enter");
  await again.page.getByRole("link", { name: "Settings" }).click();
  await again.page.getByRole("navigation", { name: "Settings" }).getByRole("link", { name: "Your account" }).click();
  await again.page.getByText("9 recovery codes left", { exact: false }).waitFor();
  await again.context.close();
});

test("in every mode: no overflow, no axe violation, nothing on the console", verifyOnly, async () => {
  const found = await inEveryMode(browser, state, [
    [
      "account",
      "/settings/account",
      async (page) => {
        await page.locator("[data-session]").first().waitFor();
        await page.getByText("On: an authenticator app").waitFor();
      },
    ],
    [
      "factor-off",
      "/settings/account",
      async (page) => {
        await page.getByRole("button", { name: "Turn off" }).click();
        await page.getByRole("heading", { name: "Turn the second factor off?" }).waitFor();
      },
    ],
  ]);
  assert.deepEqual(found, []);
});

test("sessions: this one is marked, another is signed out, then all others", async () => {
  const { context, page, trouble } = await openPage(browser, state, "/settings/account");
  const rows = page.locator("[data-session]");
  await rows.nth(2).waitFor();
  assert.equal(await rows.filter({ hasText: "this one" }).count(), 1);
  assert.match(await rows.filter({ hasText: "this one" }).innerText(), /Chrome on Linux/);
  const before = await rows.count();
  await rows
    .getByRole("button", { name: /^Sign out/ })
    .first()
    .click();
  await until("one less", async () => (await rows.count()) === before - 1);
  await page.getByRole("button", { name: "Sign out everywhere else" }).click();
  await until("only this one", async () => (await rows.count()) === 1);
  await rows.getByText("this one").waitFor();
  assert.deepEqual(trouble, []);
  await context.close();
});

test("the second factor ends with the password, the password changes, the name is saved", async () => {
  const { context, page, trouble } = await openPage(browser, state, "/settings/account");
  await page.getByRole("button", { name: "Turn off" }).click();
  await page.locator("dialog input").fill(settings.password);
  await page.keyboard.press("Enter");
  await page.getByText("Off: the password is enough", { exact: false }).waitFor();

  const made = await page.evaluate(async (current_password) => {
    const body = JSON.stringify({ name: "ends with the password", role: "viewer", current_password });
    const headers = { "content-type": "application/json" };
    return (await fetch("/api/v1/keys", { method: "POST", headers, body })).json();
  }, settings.password);
  const asked = () =>
    fetch(new URL("/api/v1/targets", settings.base), { headers: { authorization: `Bearer ${made.key}` } });
  assert.equal((await asked()).status, 200);
  await page.getByText("API keys of yours end", { exact: false }).waitFor();
  await page.getByLabel("Current password").fill("wrong");
  await page.getByLabel("New password").fill(second);
  await page.keyboard.press("Enter");
  await page.locator("input[aria-invalid=true]:focus").waitFor();
  assert.equal(await page.getByLabel("Current password").getAttribute("aria-invalid"), "true");
  await page.getByLabel("Current password").fill(settings.password);
  await page.keyboard.press("Enter");
  await page.getByText("The password is changed.", { exact: false }).first().waitFor();
  await page.getByText("1 API key has ended", { exact: false }).first().waitFor();
  assert.equal((await asked()).status, 401);
  assert.equal(await page.getByLabel("Current password").inputValue(), "");

  await page.getByLabel("Name", { exact: true }).fill("Samuel");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await until("the name in the API", async () =>
    (await must("GET", "/users?limit=1000")).items.some((one) => one.name === "Samuel" && one.email === email),
  );
  await page.getByLabel("Name", { exact: true }).fill("Sam II");
  await page.evaluate(async () => {
    const headers = { "content-type": "application/json" };
    await fetch("/api/v1/session/profile", { method: "PATCH", headers, body: JSON.stringify({ name: "Elsewhere" }) });
  });
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("Your account was changed meanwhile.", { exact: false }).waitFor();
  assert.ok((await must("GET", "/users?limit=1000")).items.some((one) => one.name === "Elsewhere"));
  assert.deepEqual(trouble.filter(refused), []);
  await context.close();
  const login = await openPage(browser, undefined, "/login");
  await enter(login.page, email, second);
  await login.page.getByRole("link", { name: "Settings" }).waitFor();
  await login.context.close();
  const { id } = (await must("GET", "/users?limit=1000")).items.find((one) => one.email === email);
  assert.equal((await api("DELETE", `/users/${id}`)).status, 204);
});
