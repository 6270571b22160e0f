// What somebody who may only look is shown, in a real browser: nothing that the API would refuse.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { inEveryMode, invited, must, openPage, signIn, startBrowser, startLab, verifyOnly } from "./harness.mjs";

let browser;
let lab;
let viewer; // the viewer's cookies
let owner;
let target;

before(async () => {
  browser = await startBrowser();
  lab = await startLab();
  owner = await signIn(browser);
  viewer = await invited(browser, `looks-${Date.now()}@example.com`, "Vera", "viewer");
  target = await must("POST", "/targets", {
    url: `${lab.url}/status/200?viewer=${Date.now()}`,
    name: "Seen by a viewer",
  });
});
after(async () => {
  if (target) await must("DELETE", `/targets/${target.id}`);
  await browser?.close();
  await lab?.close();
});

const row = (page) => page.locator(`[data-row="${target.id}"]`);
const writes = [
  "Add target",
  "Pause",
  "Resume",
  "Test now",
  "Edit",
  "Delete",
  "Use this rule",
  "Actions for Seen by a viewer",
];

/** Which of the writes a page offers, and how many boxes to select a row it has. */
async function offered(page) {
  const found = [];
  for (const name of writes) if ((await page.getByRole("button", { name, exact: true }).count()) > 0) found.push(name);
  if ((await page.locator(".pick").count()) > 0) found.push("boxes");
  return found;
}

/** The keys that would change something do nothing, and ask for nothing. */
async function keysRest(page) {
  const asked = [];
  const writes = (request) => request.method() !== "GET" && !request.url().endsWith("/notification-rules:match"); // a question
  page.on("request", (request) => writes(request) && asked.push(`${request.method()} ${request.url()}`));
  for (const key of ["c", "e", "t", "x", "X", "p", "Delete"]) await page.keyboard.press(key);
  await page.keyboard.press("?"); // it is the last key: those before it have been heard
  await page.getByRole("heading", { name: "Keyboard shortcuts" }).waitFor();
  assert.equal(await page.locator("dialog[open]").count(), 1, "no other dialog has opened");
  assert.equal(await page.getByText("Edit the open target").count(), 0);
  assert.equal(await page.getByText("Next line").count(), 1);
  await page.keyboard.press("Escape");
  await page.locator("dialog").waitFor({ state: "detached" });
  assert.equal(await page.locator(".bulk").count(), 0);
  assert.deepEqual(asked, []);
}

test("the overview", async () => {
  const { context, page, trouble } = await openPage(browser, viewer, "/");
  await row(page).waitFor();
  assert.deepEqual(await offered(page), []);
  await row(page).focus();
  await keysRest(page);
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Find" }).fill("add target");
  assert.equal(await page.getByRole("option", { name: "Add target" }).count(), 0);
  await page.keyboard.press("Escape");
  await page.goto(new URL("/?add=1", page.url()).href);
  await row(page).waitFor();
  await page.waitForURL((url) => !url.searchParams.has("add"));
  assert.equal(await page.locator("dialog").count(), 0, "an address does not open it either");
  assert.deepEqual(trouble, []);
  await context.close();
});

test("a target and its rule", async () => {
  const { context, page, trouble } = await openPage(browser, viewer, `/targets/${target.id}`);
  await page.getByRole("heading", { name: "Seen by a viewer" }).waitFor();
  assert.deepEqual(await offered(page), []);
  await keysRest(page);
  await page.getByRole("link", { name: "Rule", exact: true }).click();
  await page.getByText("Read only", { exact: false }).waitFor();
  const answered = page.waitForResponse(/\/policies:replay/);
  await page.getByRole("button", { name: "Try it" }).click();
  assert.ok((await answered).ok(), "viewers may ask");
  await page.getByRole("button", { name: "Try it" }).and(page.locator(":enabled")).waitFor();
  assert.deepEqual(await offered(page), []);
  assert.deepEqual(trouble, []);
  await context.close();
});

test("who may add no channel is not sent to add one", verifyOnly, async () => {
  for (const [who, ways] of [
    [viewer, 0],
    [owner, 1],
  ]) {
    const { context, page, trouble } = await openPage(browser, who, "/settings");
    await page.route(/\/api\/v1\/(channels|notification-rules)(\?|$)/, (route) =>
      route.fulfill({ json: { items: [], next_cursor: null } }),
    );
    await page.goto(new URL("/settings/rules", page.url()).href);
    await page.getByText("There is none yet.", { exact: false }).waitFor();
    assert.equal(await page.getByRole("link", { name: "Add a channel first" }).count(), ways);
    assert.deepEqual(trouble, []);
    await context.close();
  }
});

test("in every mode", verifyOnly, async () => {
  const found = await inEveryMode(browser, viewer, [
    ["viewer-overview", "/", (page) => row(page).waitFor()],
    [
      "viewer-target",
      `/targets/${target.id}`,
      (page) => page.getByRole("link", { name: "Rule", exact: true }).waitFor(),
    ],
    ["viewer-rule", `/targets/${target.id}/rule`, (page) => page.getByText("Read only", { exact: false }).waitFor()],
  ]);
  assert.deepEqual(found, []);
});

test("an owner is offered all of it", verifyOnly, async () => {
  const { context, page } = await openPage(browser, owner, "/");
  await row(page).waitFor();
  assert.deepEqual(await offered(page), ["Add target", "Actions for Seen by a viewer", "boxes"]);
  await page.goto(new URL(`/targets/${target.id}`, page.url()).href);
  await page.getByRole("heading", { name: "Seen by a viewer" }).waitFor();
  assert.deepEqual(await offered(page), ["Pause", "Test now", "Edit", "Delete"]);
  await context.close();
});
