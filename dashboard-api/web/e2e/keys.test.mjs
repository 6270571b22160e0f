// API keys and the audit log in a real browser: a key is made, used, revoked, and the log tells of it.
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
  unlessRefused,
  until,
  verifyOnly,
} from "./harness.mjs";

const run = Date.now().toString(36);
const name = `Deploy ${run}`;
let browser;
let state; // the owner's cookies
let key;

before(async () => {
  browser = await startBrowser();
  state = await signIn(browser);
});
after(() => browser?.close());

const call = (method, path, body) =>
  fetch(new URL(`/api/v1${path}`, settings.base), {
    method,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });

test("by keyboard: a key with two rights is made, shown once, and may just that", async () => {
  const { context, page, trouble } = await openPage(browser, state, "/settings/keys");
  await page.locator("[data-key]").first().waitFor();
  await page.keyboard.press("c");
  await page.locator("dialog input:focus").waitFor();
  await page.keyboard.press("Enter");
  await page.locator("dialog input[aria-invalid=true]:focus").waitFor();
  await page.keyboard.type(name);
  await page.getByRole("checkbox", { name: "incidents:write" }).focus();
  await page.keyboard.press("Space");
  await page.locator("dialog input[type=password]").focus();
  await page.keyboard.type("not the password");
  await page.keyboard.press("Enter");
  await page.locator("dialog input[type=password][aria-invalid=true]:focus").waitFor();
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.type(settings.password);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Keep this key" }).waitFor();
  key = await page.locator("dialog code").first().innerText();
  assert.match(key, /^pf_\S{20,}$/);
  assert.deepEqual(await axeViolations(page), []);
  await shoot(page, "key-made-1280-light");
  await page.getByRole("button", { name: "Done" }).click();
  const row = page.locator("[data-key]", { hasText: name });
  await row.getByText("incidents:write, read · yours").waitFor();
  assert.match(await row.innerText(), /never used/);
  assert.match(await row.innerText(), /expires in (89|90) d/);
  assert.ok(!(await page.content()).includes(key), "it is not on the page any more");
  assert.equal((await call("GET", "/targets")).status, 200);
  assert.equal((await call("POST", "/targets", { url: "https://example.com" })).status, 403);
  await page.reload();
  await row.getByText("last used", { exact: false }).waitFor();
  assert.deepEqual(trouble.filter(unlessRefused), []);
  await context.close();
});

test("in every mode: no overflow, no axe violation, nothing on the console", verifyOnly, async () => {
  const found = await inEveryMode(browser, state, [
    ["keys", "/settings/keys", (page) => page.locator("[data-key]", { hasText: name }).waitFor()],
    [
      "key-new",
      "/settings/keys",
      async (page) => {
        await page.getByRole("button", { name: "Make a key" }).first().click();
        await page.getByRole("checkbox", { name: "admin" }).waitFor();
      },
    ],
    ["audit", "/settings/audit", (page) => page.locator(".audit > li").nth(3).waitFor()],
    [
      "audit-nothing",
      "/settings/audit?object=region:nowhere",
      (page) => page.getByRole("heading", { name: "Nothing matches" }).waitFor(),
    ],
  ]);
  assert.deepEqual(found, []);
});

test("a key that is revoked is refused, and the audit log says who did it", async () => {
  const { context, page, trouble } = await openPage(browser, state, "/settings/keys");
  await page
    .locator("[data-key]", { hasText: name })
    .getByRole("button", { name: `Revoke ${name}` })
    .click();
  await page.getByText("Programs that use it are refused", { exact: false }).waitFor();
  await shoot(page, "key-revoke-1280-light");
  await page
    .locator("dialog")
    .getByRole("button", { name: `Revoke ${name}` })
    .click();
  await page.locator("[data-key]", { hasText: name }).waitFor({ state: "detached" });
  assert.equal((await call("GET", "/targets")).status, 401);

  await page.getByRole("link", { name: "Audit log" }).click();
  const entries = page.locator(".audit > li");
  await entries.first().getByText("revoked", { exact: false }).waitFor();
  await page.getByLabel("What").selectOption("key.created");
  await until("only keys that were made", async () => {
    const all = await entries.allInnerTexts();
    return all.length > 0 && all.every((text) => / made /.test(text));
  });
  await entries.getByText(name, { exact: false }).first().waitFor();
  await page.waitForURL(/action=key\.created/); // the address holds the filter
  await page.getByLabel("What").selectOption("");
  const target = await must("POST", "/targets", { url: `https://audit-${run}.example.com/`, active: false });
  await page.getByRole("combobox", { name: "Target" }).click();
  await page.getByRole("combobox", { name: "Target" }).fill(`audit-${run}`);
  await page.locator(".picker-list [role=option]", { hasText: `audit-${run}` }).waitFor();
  await page.keyboard.press("Enter");
  await until("one entry", async () => (await entries.count()) === 1);
  assert.match(await entries.first().innerText(), /added audit-/);
  const file = page.waitForEvent("download");
  await page.getByRole("button", { name: "CSV" }).click();
  assert.equal((await file).suggestedFilename(), "probefleet-audit-log.csv");
  await must("DELETE", `/targets/${target.id}`);
  assert.deepEqual(trouble, []);
  await context.close();
});
