// Status pages in a real browser: a page is made, filled, published, posted on, and read by
// somebody else meanwhile. By itself or after the others: it makes the account when there is none.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import {
  axeViolations,
  inEveryMode,
  must,
  often,
  overflow,
  settings,
  shoot,
  signIn,
  startBrowser,
  unlessRefused,
  until,
  verifyOnly,
  watchPage,
} from "./harness.mjs";

const run = Date.now().toString(36);
const title = `Acme ${run}`;
const slug = `acme-${run}`;
const server = createServer((_, response) => response.end("ok"));
let browser;
let state; // the signed-in browser's cookies
let watched;
let other;
let made; // the page
let reader; // somebody who has the public page open

before(async () => {
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  browser = await startBrowser();
  state = await signIn(browser);
  const url = `http://127.0.0.1:${server.address().port}/${run}`;
  watched = await must("POST", "/targets", { url, name: `Shop front ${run}`, ...often });
  other = await must("POST", "/targets", { url: `${url}-api`, name: `Api gateway ${run}`, ...often });
});
after(async () => {
  await browser?.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

async function signedIn(path, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, storageState: state, ...options });
  const page = await context.newPage();
  const trouble = watchPage(page);
  await page.goto(new URL(path, settings.base).href);
  return { context, page, trouble };
}
const stored = () => must("GET", `/status-pages/${made.id}`);
const editor = () => `/settings/pages/${made.id}`;

test("by keyboard: a page is added as a draft, which nobody sees", async () => {
  const { context, page, trouble } = await signedIn("/settings/pages");
  await page.getByRole("button", { name: "Add status page" }).first().waitFor();
  if ((await must("GET", "/status-pages")).items.length === 0) {
    await page.getByRole("heading", { name: "There is no status page yet" }).waitFor();
    assert.deepEqual(await axeViolations(page), []);
    await shoot(page, "pages-empty-1280", true);
    await page.setViewportSize({ width: 390, height: 844 });
    assert.ok((await overflow(page)) <= 0);
    await shoot(page, "pages-empty-390", true);
    await page.setViewportSize({ width: 1280, height: 860 });
  }
  await page.keyboard.press("c");
  await page.getByLabel("Name", { exact: true }).waitFor();
  await page.keyboard.press("Enter");
  await page.locator("input[aria-invalid=true]:focus").waitFor();
  await page.keyboard.type(title);
  assert.equal(await page.getByLabel("Address").inputValue(), slug, "an address is made of the name");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: title }).waitFor();
  made = (await must("GET", "/status-pages?limit=1000")).items.find((one) => one.slug === slug);
  assert.equal(made.published, false);
  assert.equal((await fetch(new URL(`/s/${slug}`, settings.base))).status, 404);
  assert.deepEqual(trouble.filter(unlessRefused), []);
  await context.close();
});

test("by keyboard: components come from targets, get names and an order, and are saved", async () => {
  const { context, page, trouble } = await signedIn(editor());
  const first = page.getByRole("combobox", { name: "Target of the first component" });
  await first.focus();
  await page.keyboard.type(`Shop front ${run}`);
  await page.getByRole("option", { name: `Shop front ${run}` }).waitFor();
  await page.keyboard.press("Enter");
  const names = page.getByLabel("Name", { exact: true });
  await names.nth(1).waitFor();
  await names.nth(1).fill("Shop");
  const preview = page.getByRole("region", { name: "Preview" });
  await preview.getByText("Shop", { exact: true }).waitFor();

  const more = page.getByRole("combobox", { name: "Add a component to this group" });
  await more.focus();
  await page.keyboard.type(`Api gateway ${run}`);
  await page.getByRole("option", { name: `Api gateway ${run}` }).waitFor();
  await page.keyboard.press("Enter");
  await names.nth(1).fill("API");
  await page.getByRole("button", { name: "Without a target" }).click();
  await names.nth(1).fill("Hotline");
  await page.getByLabel("State", { exact: true }).selectOption("maintenance");

  const order = () => page.locator("[data-component]").evaluateAll((rows) => rows.map((row) => row.dataset.component));
  assert.deepEqual(await order(), ["Shop", "API", "Hotline"]);
  await page.getByRole("button", { name: /^Move Hotline/ }).focus();
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("ArrowUp");
  assert.deepEqual(await order(), ["Hotline", "Shop", "API"]);
  assert.match(await page.evaluate(() => document.activeElement.getAttribute("aria-label")), /^Move Hotline/);
  await page.locator('[data-component="Hotline"] .component-name').click();
  await page.getByRole("button", { name: /^Move Hotline/ }).dragTo(page.locator('[data-component="API"]'), {
    targetPosition: { x: 200, y: 36 },
  });
  assert.deepEqual(await order(), ["Shop", "API", "Hotline"], "what is dragged goes where it is dropped");

  await page.getByRole("link", { name: "Posts" }).click();
  await page.getByRole("heading", { name: "Leave without saving?" }).waitFor();
  await shoot(page, "page-unsaved-1280");
  await page.getByRole("button", { name: "Stay here" }).click();
  await page.keyboard.press("Control+s");
  await page.getByText("Everything is saved.").first().waitFor();
  const [group] = (await stored()).groups;
  assert.deepEqual(
    group.components.map(({ name, rule, state, target_ids }) => ({ name, rule, state, target_ids })),
    [
      { name: "Shop", rule: "worst", state: null, target_ids: [watched.id] },
      { name: "API", rule: "worst", state: null, target_ids: [other.id] },
      { name: "Hotline", rule: "manual", state: "maintenance", target_ids: [] },
    ],
  );
  assert.deepEqual(trouble, []);
  await context.close();
});

test("colours that cannot be read are refused, language and theme are in the preview", verifyOnly, async () => {
  const { context, page, trouble } = await signedIn(editor());
  const accent = page.getByLabel("Links, light theme", { exact: true });
  await accent.fill("#ffff00");
  await page.getByText("1.07 to 1 on white; 4.5 is the least").waitFor();
  await page.keyboard.press("Enter");
  await page.locator("input[aria-invalid=true]:focus").waitFor();
  assert.equal((await stored()).accent, null);
  await accent.fill("#7a1fa2");
  await page.getByLabel("Language", { exact: true }).selectOption("de");
  await page.getByRole("region", { name: "Preview" }).getByText("Wartung", { exact: true }).waitFor();
  await page.getByLabel("A host name of its own (optional)").fill("status.example.com");
  await page.getByText("status.example.com. CNAME").waitFor();
  await page.getByLabel("A host name of its own (optional)").fill("");
  await page.getByLabel("Language", { exact: true }).selectOption("en");
  await page.getByRole("button", { name: "Save changes" }).click();
  await page.getByText("Everything is saved.").first().waitFor();
  assert.equal((await stored()).accent, "#7a1fa2");
  assert.deepEqual(trouble, []);
  await context.close();
});

test("changes of somebody else are not written over", verifyOnly, async () => {
  const { context, page, trouble } = await signedIn(editor());
  await page.getByLabel("A sentence about it (optional)").fill("Mine.");
  await must("PATCH", `/status-pages/${made.id}`, { description: "Theirs." });
  await page.getByRole("button", { name: "Save changes" }).click();
  await page.getByText("Somebody else changed this page").waitFor();
  assert.equal((await stored()).description, "Theirs.");
  await page.getByRole("button", { name: "Take theirs, and leave mine" }).click();
  await page.getByText("Everything is saved.").first().waitFor();
  assert.equal(await page.getByLabel("A sentence about it (optional)").inputValue(), "Theirs.");
  assert.deepEqual(
    trouble.filter((line) => !/status of 412/.test(line)),
    [],
  );
  await context.close();
});

// Promise: a status page is published and read
test("what is published is read by others", async () => {
  const { context, page, trouble } = await signedIn(editor());
  await page.getByRole("button", { name: "Publish" }).click();
  const link = page.getByRole("link", { name: "Open the page" });
  await link.waitFor();
  assert.equal(await link.getAttribute("href"), `/s/${slug}`);
  await page.getByRole("link", { name: "Share" }).click();
  await page.locator("img.badge-shown").waitFor();
  await until("the badge is drawn", () => page.locator("img.badge-shown").evaluate((image) => image.naturalWidth > 0));
  await page.getByLabel("Of", { exact: true }).selectOption({ label: "Shop" });
  const shop = (await stored()).groups[0].components[0].id;
  await page.getByText(`/s/${slug}/components/${shop}/badge.svg)`).waitFor();
  for (const row of await page.locator(".feeds code").allInnerTexts())
    assert.equal((await fetch(row)).status, 200, row);
  assert.deepEqual(trouble, []);
  await context.close();

  const outside = await browser.newContext({ viewport: { width: 1280, height: 860 } });
  reader = await outside.newPage();
  await reader.goto(new URL(`/s/${slug}`, settings.base).href);
  await reader.getByRole("heading", { level: 1, name: title }).waitFor();
  await reader.locator("#systems").getByText("Shop", { exact: true }).waitFor();
  await reader.evaluate(() => {
    window.sameDocument = true;
  });
});

test("readers may subscribe once it is chosen; who does is listed, and can be removed", verifyOnly, async () => {
  const { context, page, trouble } = await signedIn(editor());
  const card = page.getByRole("region", { name: "Subscriptions" });
  await card.getByText("Nobody has subscribed yet.").waitFor();
  await card.getByText("no mail server is set up", { exact: false }).waitFor();
  await card.getByRole("checkbox", { name: "By webhook" }).check();
  await page.getByRole("button", { name: "Save changes" }).click();
  await page.getByText("Everything is saved.").first().waitFor();
  assert.equal((await stored()).subscribe_webhook, true);

  const other = await browser.newContext({ viewport: { width: 390, height: 844 } });
  const form = await other.newPage();
  await form.goto(new URL(`/s/${slug}/subscribe`, settings.base).href);
  await form.locator("#u").fill("https://hooks.example.com/secret-path");
  await form.locator("#k").fill("0123456789abcdef");
  await form.locator("form button").click();
  await form.locator("#u").waitFor({ state: "detached" });
  await other.close();

  await page.reload();
  const entry = card.getByRole("listitem").filter({ hasText: "hooks.example.com" });
  await entry.getByText("Not confirmed yet").waitFor();
  assert.ok(!(await card.innerText()).includes("secret-path"));
  await card.scrollIntoViewIfNeeded();
  await shoot(page, "pages-subscribers-1280", true);
  await entry.getByRole("button", { name: /^Remove/ }).click();
  await page.getByRole("button", { name: "Remove it" }).click();
  await card.getByText("Nobody has subscribed yet.").waitFor();
  assert.deepEqual((await must("GET", `/status-pages/${made.id}/subscribers`)).items, []);
  assert.deepEqual(trouble, []);
  await context.close();
});

test("a post and its updates come to who reads the page, without a reload, until it is resolved", async () => {
  const { context, page, trouble } = await signedIn(`${editor()}/posts`);
  await page.getByRole("heading", { name: "Nothing was told yet" }).waitFor();
  await page.keyboard.press("c");
  await page.getByLabel("Title").waitFor();
  await page.getByLabel("Title").focus();
  await page.keyboard.press("Enter");
  await page.locator("[aria-invalid=true]:focus").waitFor();
  await page.keyboard.type(`Payments are slow ${run}`);
  await page.getByRole("group", { name: "Affects" }).getByLabel("Shop").check();
  await page.getByRole("button", { name: "Degraded" }).click();
  await page.getByLabel("What you tell").fill("We **look** into it.\n\n- first\n- second <script>alert(1)</script>");
  const shown = page.getByRole("region", { name: "As the page shows it" });
  await shown.locator("strong", { hasText: "look" }).waitFor();
  assert.equal(await shown.locator("li").count(), 2);
  await page.getByRole("button", { name: "Post", exact: true }).click();
  await page.getByRole("heading", { name: "Updates" }).waitFor();

  const event = reader.locator(".event", { hasText: `Payments are slow ${run}` });
  await event.waitFor();
  assert.equal(await event.locator(".text strong").innerText(), "look");
  assert.match(await event.innerText(), /Affects: Shop/);

  for (const [name, text] of [
    ["Identified", "A disk is full."],
    ["Resolved", "It is over."],
  ]) {
    await page.getByLabel("Update", { exact: true }).fill(text);
    await page.getByRole("group", { name: "Where it stands" }).getByRole("button", { name }).focus();
    await page.keyboard.press("Enter");
    await page.getByLabel("Update", { exact: true }).focus();
    await page.keyboard.press("Tab");
    await page.getByRole("button", { name: "Post update" }).press("Enter");
    await page.locator(".updates li", { hasText: text }).waitFor();
    await event.getByText(text).waitFor();
    assert.equal(await event.locator(".tag").innerText(), name);
  }
  assert.equal(await reader.evaluate(() => window.sameDocument), true, "it was never loaded anew");
  await reader.getByRole("heading", { name: "Past incidents" }).waitFor();
  const [post] = (await must("GET", `/status-pages/${made.id}/posts`)).items;
  assert.ok(post.resolved_at);
  assert.deepEqual(
    post.updates.map((one) => one.state),
    ["investigating", "identified", "resolved"],
  );
  assert.deepEqual(trouble, []);
  await context.close();
});

test("an announcement is edited, and deleted with its consequences named", verifyOnly, async () => {
  const { context, page, trouble } = await signedIn(`${editor()}/posts/new`);
  await page.getByRole("button", { name: "Announcement" }).click();
  await page.getByLabel("Title").fill(`We move ${run}`);
  await page.getByLabel("What you tell").fill("On Sunday.");
  await page.getByRole("button", { name: "Post", exact: true }).click();
  await page.getByRole("button", { name: "Edit" }).click();
  await page.getByLabel("Title").fill(`We move on Sunday ${run}`);
  await page.getByRole("button", { name: "Save changes" }).click();
  const event = reader.locator(".event", { hasText: `We move on Sunday ${run}` });
  await event.waitFor();
  assert.doesNotMatch(await event.innerText(), /Investigating/, "an announcement is not investigated");
  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByText("It goes from the page, its history and its feeds").waitFor();
  await page.getByRole("button", { name: "Delete it" }).click();
  await page.getByRole("button", { name: "New post" }).waitFor();
  await event.waitFor({ state: "detached" });
  assert.deepEqual(trouble, []);
  await context.close();
});

test("in every mode: no overflow, no axe violation, nothing on the console", verifyOnly, async () => {
  const [post] = (await must("GET", `/status-pages/${made.id}/posts`)).items;
  const found = await inEveryMode(browser, state, [
    ["pages", "/settings/pages", (page) => page.locator(".entry").first().waitFor()],
    [
      "page",
      editor(),
      async (page) => {
        await page.locator(".component").first().waitFor();
        await page.locator(".component-name").first().click();
        // By keys: what moves after them is no layout shift.
        await page.getByLabel("A host name of its own (optional)").pressSequentially("status.example.com");
      },
    ],
    [
      "page-new",
      "/settings/pages",
      async (page) => {
        await page.getByRole("button", { name: "Add status page" }).click();
        await page.getByRole("button", { name: "Add as a draft" }).click();
        await page.locator("[aria-invalid=true]").first().waitFor();
      },
    ],
    ["page-share", `${editor()}/share`, (page) => page.locator("img.badge-shown").waitFor()],
    ["page-posts", `${editor()}/posts`, (page) => page.locator(".incident").first().waitFor()],
    [
      "page-post-new",
      `${editor()}/posts/new`,
      async (page) => {
        await page.getByLabel("What you tell").fill("We **look** into `it`.");
        await page.getByRole("region", { name: "As the page shows it" }).locator("strong").waitFor();
      },
    ],
    ["page-post", `${editor()}/posts/${post.id}`, (page) => page.locator(".updates .sp-text p").first().waitFor()],
    ["page-gone", "/settings/pages/999999999", (page) => page.getByText("There is no such status page").waitFor()],
  ]);
  assert.deepEqual(
    found.filter((line) => !/page-gone.*status of 404/.test(line)),
    [],
  );
});

test("what readers see, in every mode, and without scripts", async () => {
  const closed = await must("POST", "/status-pages", {
    slug: `closed-${run}`,
    title: "For customers",
    published: true,
    password: settings.password,
  });
  const systems = (page) => page.locator("#systems .state").first().waitFor();
  const found = await inEveryMode(browser, undefined, [
    ["public", `/s/${slug}`, systems],
    ["public-ar", `/s/${slug}?lang=ar`, (page) => page.locator("html[dir=rtl] #systems .state").first().waitFor()],
    ["public-subscribe", `/s/${slug}/subscribe`, (page) => page.locator("form button").first().waitFor()],
    ["public-password", `/s/${closed.slug}`, (page) => page.locator("input[name=password]").waitFor()],
    [
      "public-none",
      `/s/${slug}-none`,
      (page) => page.getByRole("heading", { name: "There is no such page" }).waitFor(),
    ],
    ["public-none-ar", `/s/${slug}/none?lang=ar`, (page) => page.locator("html[dir=rtl] h1 + p a").waitFor()],
  ]);
  // Who has not given the password is told 401, and 404 of what is not there.
  assert.deepEqual(
    found.filter((line) => !/^public-(password .*status of 401|none.*status of 404)/.test(line)),
    [],
  );
  await must("DELETE", `/status-pages/${closed.id}`);

  const bare = await browser.newContext({ viewport: { width: 360, height: 780 }, javaScriptEnabled: false });
  const page = await bare.newPage();
  await page.goto(new URL(`/s/${slug}`, settings.base).href);
  await page.locator("#systems").getByText("Shop", { exact: true }).waitFor();
  await page.locator("#banner .words").getByText(/\S/).waitFor();
  await page.locator(".event").first().waitFor();
  await shoot(page, "public-without-scripts-360", true);
  assert.equal(await overflow(page), 0);
  await bare.close();
});

test("unpublished nobody sees it, deleted it is gone", async () => {
  const { context, page, trouble } = await signedIn(editor());
  const menu = page.getByRole("button", { name: `Actions for ${title}` });
  await menu.focus();
  await page.keyboard.press("Enter");
  await page.getByRole("menuitem", { name: "Unpublish" }).press("Enter");
  await page.getByText("to readers who have it open, too").waitFor();
  await page.getByRole("button", { name: "Unpublish" }).click();
  await page.getByText("Draft: nobody sees it").waitFor();
  await until("it is not there", async () => (await fetch(new URL(`/s/${slug}`, settings.base))).status === 404);
  await menu.click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  await page.getByRole("button", { name: "Delete it" }).click();
  await page.getByRole("heading", { level: 1, name: "Status pages" }).waitFor();
  assert.ok(!(await must("GET", "/status-pages?limit=1000")).items.some((one) => one.slug === slug));
  assert.deepEqual(trouble, []);
  await context.close();
  await reader.context().close();
  for (const target of [watched, other]) await must("DELETE", `/targets/${target.id}`);
});
