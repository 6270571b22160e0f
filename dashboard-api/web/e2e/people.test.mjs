// People in a real browser: one is invited, joins with the link, gets another role, and is removed.
// By itself or after the others: it makes the account when there is none.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  axeViolations,
  enter,
  inEveryMode,
  modes,
  must,
  openPage,
  overflow,
  settings,
  shoot,
  signIn,
  startBrowser,
  unlessRefused,
  until,
  verifyOnly,
} from "./harness.mjs";

const run = Date.now().toString(36);
const email = `ann-${run}@example.com`;
let browser;
let state; // the owner's cookies
let link;

before(async () => {
  browser = await startBrowser();
  state = await signIn(browser);
});
after(() => browser?.close());

const person = async () => (await must("GET", "/users?limit=1000")).items.find((one) => one.email === email);
const openInvitations = async () =>
  (await must("GET", "/invitations?limit=1000")).items.filter((one) => one.state === "open");

test("by keyboard: somebody is invited, the link is shown once, an address that is none is told", async () => {
  const { context, page, trouble } = await openPage(browser, state, "/settings/people");
  await page.locator("[data-member]").first().waitFor();
  await page.keyboard.press("c");
  await page.locator("input[type=email]:focus").waitFor();
  await page.keyboard.type("not an address");
  await page.keyboard.press("Enter");
  await page.locator("input[type=email][aria-invalid=true]:focus").waitFor();
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.type(email);
  await page.keyboard.press("Tab");
  await page.locator("input[type=radio]:focus").waitFor();
  await page.keyboard.press("ArrowDown");
  assert.ok(await page.getByRole("radio", { name: "Viewer" }).isChecked());
  await page.locator("dialog input[type=password]").focus();
  await page.keyboard.type("not the password");
  await page.keyboard.press("Enter");
  await page.locator("dialog input[type=password][aria-invalid=true]:focus").waitFor();
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.type(settings.password);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Send this link" }).waitFor();
  link = await page.locator("dialog code").innerText();
  assert.match(link, /\/invitation#token=\S{20,}$/);
  assert.deepEqual(await axeViolations(page), []);
  await shoot(page, "invitation-made-1280-light");
  await page.getByRole("button", { name: "Done" }).click();
  const entry = page.locator("[data-invitation]", { hasText: email });
  await entry.getByText("as a viewer").waitFor();
  assert.match(await entry.innerText(), /expires in (6|7) d/);
  assert.ok(!(await page.content()).includes(link.split("token=")[1]), "it is not on the page any more");
  assert.deepEqual(trouble.filter(unlessRefused), []);
  await context.close();
});

test("an invitation that is revoked opens nothing", async () => {
  const made = await must("POST", "/invitations", { role: "editor" });
  const { context, page, trouble } = await openPage(browser, state, "/settings/people");
  const entry = page.locator(`[data-invitation="${made.id}"]`);
  await entry.getByRole("button", { name: /^Revoke/ }).click();
  await page.getByRole("button", { name: "Revoke it" }).click();
  await entry.waitFor({ state: "detached" });
  assert.ok(!(await openInvitations()).some((one) => one.id === made.id));
  assert.deepEqual(trouble, []);
  await context.close();
  const other = await openPage(browser, undefined, new URL(made.link).pathname + new URL(made.link).hash);
  await other.page.getByLabel("Name").fill("Eve");
  await other.page.getByLabel("E-mail").fill(`eve-${run}@example.com`);
  await other.page.getByLabel("Password").fill(settings.password);
  await other.page.keyboard.press("Enter");
  await other.page.getByRole("alert").waitFor();
  assert.match(await other.page.getByRole("alert").innerText(), /invitation/i, "it says what is wrong");
  await other.context.close();
});

test("the page of an invitation: its mistakes, in every mode, and the account it makes", async () => {
  const path = new URL(link).pathname + new URL(link).hash;
  for (const { name: mode, ...options } of modes) {
    const { context, page, trouble } = await openPage(browser, undefined, path, options);
    await page.getByRole("button", { name: "Join" }).waitFor();
    assert.equal(await overflow(page), 0, mode);
    assert.deepEqual(await axeViolations(page), [], mode);
    await shoot(page, `invitation-${mode}`);
    assert.deepEqual(trouble, []);
    await context.close();
  }
  const broken = await openPage(browser, undefined, "/invitation");
  await broken.page.getByText("This link is not whole", { exact: false }).waitFor();
  await broken.context.close();

  const { context, page, trouble } = await openPage(browser, undefined, path);
  await page.getByLabel("Name").fill("Ann");
  await page.getByLabel("Password").fill("short");
  await page.keyboard.press("Enter");
  await page.locator("input[name=password][aria-invalid=true]:focus").waitFor();
  await page.getByLabel("Password").fill(settings.password);
  await page.keyboard.press("Enter");
  await page.getByRole("link", { name: "Settings" }).waitFor();
  assert.ok(!page.url().includes("token"), "the token is out of the address");
  assert.equal((await person()).role, "viewer");
  await page.goto(new URL("/settings/people", settings.base).href);
  await page.getByRole("heading", { name: "Only owners see this" }).waitFor();
  assert.equal(await page.getByRole("link", { name: "Audit log" }).count(), 0);
  assert.deepEqual(trouble.filter(unlessRefused), []);
  await context.close();
});

test("another role, with what it ends; the only owner stays; removal says what goes", async () => {
  const { context, page, trouble } = await openPage(browser, state, "/settings/people");
  const row = page.locator("[data-member]", { hasText: email });
  await row.getByText("Viewer").waitFor();
  assert.match(await row.innerText(), /password only/);
  await page.locator("[data-member]", { hasText: "you" }).getByText("The only owner", { exact: false }).waitFor();
  const choose = async (item) => {
    await row.getByRole("button", { name: "Actions for Ann" }).click();
    await page.getByRole("menuitem", { name: item }).click();
  };
  await choose("Change role");
  await page.getByText("Ann is signed out everywhere", { exact: false }).waitFor();
  await page.getByRole("radio", { name: "Editor" }).check();
  assert.deepEqual(await axeViolations(page), []);
  await shoot(page, "role-1280-light");
  await must("PATCH", `/users/${(await person()).id}`, { role: "owner" }); // by somebody else, meanwhile
  await page.getByRole("button", { name: "Make Ann an editor" }).click();
  await page.getByText("Somebody else changed this account. Close and open it again.").waitFor();
  assert.equal((await person()).role, "owner", "it was written over");
  await page.keyboard.press("Escape");
  await row.getByText("Owner", { exact: true }).waitFor();
  await choose("Change role");
  await page.getByRole("radio", { name: "Editor" }).check();
  await page.getByRole("button", { name: "Make Ann an editor" }).click();
  await row.getByText("Editor").waitFor();
  assert.equal((await person()).role, "editor");

  await choose("Remove");
  await page.getByText("API keys of Ann end", { exact: false }).waitFor();
  assert.deepEqual(await axeViolations(page), []);
  await shoot(page, "remove-1280-light");
  await page.getByRole("button", { name: "Keep Ann" }).click();
  await page.locator("dialog").waitFor({ state: "detached" });
  assert.ok(await person(), "nothing was done yet");
  assert.deepEqual(
    trouble.filter((line) => !/status of 412/.test(line)),
    [],
  );
  await context.close();
});

test("who is disabled is signed out at once and cannot come in, until enabled again", async () => {
  const theirs = await openPage(browser, undefined, "/login");
  await enter(theirs.page, email, settings.password);
  await theirs.page.getByRole("link", { name: "Settings" }).waitFor();

  const { context, page, trouble } = await openPage(browser, state, "/settings/people");
  const row = page.locator("[data-member]", { hasText: email });
  const choose = async (item) => {
    await row.getByRole("button", { name: "Actions for Ann" }).click();
    await page.getByRole("menuitem", { name: item, exact: true }).click();
  };
  await choose("Disable");
  await page.getByText("Ann is signed out everywhere, and cannot sign in in any way.").waitFor();
  assert.deepEqual(await axeViolations(page), []);
  await shoot(page, "disable-1280-light");
  await page.getByRole("button", { name: "Keep Ann" }).click();
  await page.locator("dialog").waitFor({ state: "detached" });
  assert.equal((await person()).disabled_at, null, "nothing was done yet");
  await choose("Disable");
  await page.getByRole("button", { name: "Disable Ann" }).click();
  await row.getByText("disabled").waitFor();
  assert.deepEqual(await axeViolations(page), []);

  // The page that was open learns it by its socket. Who has the password is told why; others are told nothing.
  await theirs.page.getByRole("heading", { name: "Sign in" }).waitFor();
  await enter(theirs.page, email, "not the password");
  await theirs.page.getByText("the e-mail address or the password is wrong").waitFor();
  await enter(theirs.page, email, settings.password);
  await theirs.page.getByText("Your account is disabled.", { exact: false }).waitFor();

  await choose("Enable");
  await row.getByText("disabled").waitFor({ state: "detached" });
  await enter(theirs.page, email, settings.password);
  await theirs.page.getByRole("link", { name: "Settings" }).waitFor();
  await theirs.context.close();
  assert.deepEqual(trouble, []);
  await context.close();
});

test("in every mode: no overflow, no axe violation, nothing on the console", verifyOnly, async () => {
  await must("POST", "/invitations", {
    role: "viewer",
    email: `a.very.long.address.of.somebody-${run}@a.long.domain.example.com`,
  });
  const found = await inEveryMode(browser, state, [
    [
      "people",
      "/settings/people",
      async (page) => {
        await page.locator("[data-member]").first().waitFor();
        await page.locator("[data-invitation]").first().waitFor();
      },
    ],
    [
      "people-invite",
      "/settings/people",
      async (page) => {
        await page.locator("[data-member]").first().waitFor();
        await page.getByRole("button", { name: "Invite", exact: true }).click();
        await page.getByRole("radio", { name: "Owner" }).waitFor();
      },
    ],
  ]);
  assert.deepEqual(found, []);
});

test("who is removed is gone", async () => {
  const { context, page, trouble } = await openPage(browser, state, "/settings/people");
  const row = page.locator("[data-member]", { hasText: email });
  await row.getByRole("button", { name: "Actions for Ann" }).click();
  await page.getByRole("menuitem", { name: "Remove" }).click();
  await page.getByRole("button", { name: "Remove Ann" }).click();
  await row.waitFor({ state: "detached" });
  await until("gone in the API", async () => (await person()) === undefined);
  for (const one of await openInvitations()) await must("DELETE", `/invitations/${one.id}`);
  assert.deepEqual(trouble, []);
  await context.close();
});
