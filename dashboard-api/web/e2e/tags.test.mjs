// Tags and what a target depends on, in a real browser.
// By itself or after the others: it makes the account when there is none.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  axeViolations,
  inEveryMode,
  must,
  often,
  openPage,
  shoot,
  signIn,
  startBrowser,
  startLab,
  until,
  verifyOnly,
} from "./harness.mjs";

const run = Date.now().toString(36);
const tag = `run-${run}`;
let browser;
let lab;
let state; // the signed-in browser's cookies
let router;
let shop;

before(async () => {
  [browser, lab] = await Promise.all([startBrowser(), startLab()]);
  state = await signIn(browser);
  const make = (name, more) =>
    must("POST", "/targets", { url: `${lab.url}/n/${name}-${run}`, name: `${name} ${run}`, ...often, ...more });
  router = await make("Router", { tags: [tag, "network"] });
  await make("Other", { tags: ["network"] });
});
after(async () => {
  await browser?.close();
  await lab?.close();
});

const read = async (target) => must("GET", `/targets/${target.id}`);
const offered = (page, name) => page.locator("dialog .picker-list [role=option]", { hasText: name });
const row = (page, target) => page.locator(`li:has([data-row="${target.id}"])`);

test("by keyboard: a target is added with tags, one of them suggested, and what it depends on", async () => {
  const { context, page, trouble } = await openPage(browser, state, "/");
  await page.locator("[data-row]").first().waitFor();
  await page.keyboard.press("c");
  await page.locator("input[name=url]:focus").waitFor();
  await page.keyboard.type(`${lab.url}/n/shop-${run}`);
  const tags = page.getByRole("combobox", { name: "Tags" });
  await tags.focus();
  await page.keyboard.type("not/ok,");
  await page.keyboard.type("-bad,");
  await page.getByText("-bad: a tag is 1 to 40", { exact: false }).waitFor();
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.press("Backspace");
  await page.keyboard.press("Backspace"); // takes not/ok off again
  await page.keyboard.type("Prod,");
  await page.keyboard.type(tag.slice(0, -1));
  await offered(page, tag).waitFor();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  assert.deepEqual(await axeViolations(page), []);
  await page.getByRole("combobox", { name: "Depends on" }).focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.type(`router ${run}`);
  await offered(page, `Router ${run}`).waitFor();
  await page.keyboard.press("Enter");
  await shoot(page, "add-tags-1280-light");
  await page.keyboard.press("Enter");
  await page.locator("dialog").waitFor({ state: "detached" });
  shop = await until("the target in the API", async () =>
    (await must("GET", `/targets?tag=${tag}&parent_id=${router.id}`)).items.at(0),
  );
  assert.deepEqual(shop.tags, ["prod", tag]);
  assert.deepEqual(trouble, []);
  await context.close();
});

test("tags are in the rows, narrow the list, are in the address and in the palette", async () => {
  const { context, page, trouble } = await openPage(browser, state, "/");
  await page.getByLabel("Filter by tag").selectOption("network");
  await row(page, router).getByText("network").waitFor();
  await row(page, shop).waitFor({ state: "detached" });
  await page.getByLabel("Filter by tag").selectOption(tag);
  await until("one row", async () => (await page.locator("[data-row]").count()) === 1);
  await page.waitForURL(new RegExp(`tag=network%2C${tag}`));
  await page.getByRole("button", { name: "Clear the tag network" }).click();
  await row(page, shop).getByText("prod").waitFor();
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Find" }).waitFor();
  await page.keyboard.type(`tagged ${tag}`);
  await page.getByRole("option", { name: `Tagged ${tag}` }).waitFor();
  await page.keyboard.press("Escape");
  await page.locator("dialog").waitFor({ state: "detached" });
  assert.deepEqual(trouble, []);
  await context.close();
});

test("an edit of many adds a tag and takes one off, and can be taken back", verifyOnly, async () => {
  const { context, page, trouble } = await openPage(browser, state, `/?tag=${tag}`);
  await page.getByRole("checkbox", { name: `Select Router ${run}` }).check();
  await page.getByRole("button", { name: "Select all 2 matching" }).click();
  await page.getByRole("region", { name: "Selected targets" }).getByRole("button", { name: "Edit" }).click();
  await page.getByRole("combobox", { name: "Add tags" }).focus();
  await page.keyboard.type("zone-a,");
  await page.getByRole("group", { name: "Remove tags" }).getByLabel("prod").check();
  await page.getByText("Tag: with prod → without prod for 1 target").waitFor();
  await page.getByText("Tag: without zone-a → with zone-a for 2 targets").waitFor();
  assert.deepEqual(await axeViolations(page), []);
  await shoot(page, "bulk-tags-1280-light");
  await page.getByRole("button", { name: "Change 2 targets" }).click();
  await until("both have it", async () => (await read(router)).tags.includes("zone-a"));
  await until("one is off", async () => (await read(shop)).tags.join() === `${tag},zone-a`);
  await page.getByRole("button", { name: "Undo" }).click();
  await until("as before", async () => (await read(shop)).tags.join() === `prod,${tag}`);
  assert.deepEqual(trouble, []);
  await context.close();
});

test("in every mode: no overflow, no axe violation, nothing on the console", verifyOnly, async () => {
  const found = await inEveryMode(browser, state, [
    ["overview-tags", `/?tag=${tag}`, (page) => row(page, shop).getByText("prod").waitFor()],
    [
      "target-related",
      `/targets/${shop.id}`,
      async (page) => {
        await page.getByText("depends on").waitFor();
        await page.locator(".plot canvas").waitFor();
      },
    ],
    ["target-above", `/targets/${router.id}`, (page) => page.getByText("1 target depends on it").waitFor()],
    [
      "target-edit",
      `/targets/${shop.id}`,
      async (page) => {
        await page.getByRole("button", { name: "Edit" }).click();
        await page.getByRole("combobox", { name: "Tags" }).scrollIntoViewIfNeeded();
        await page.getByRole("combobox", { name: "Tags" }).click();
      },
    ],
  ]);
  assert.deepEqual(found, []);
});

test("the parent is taken off, and itself is never offered", verifyOnly, async () => {
  const { context, page, trouble } = await openPage(browser, state, `/targets/${router.id}`);
  await page.getByRole("button", { name: "Edit" }).click();
  const depends = page.getByRole("combobox", { name: "Depends on" });
  await depends.click();
  await depends.fill(run);
  await offered(page, `Other ${run}`).waitFor();
  assert.equal(await offered(page, "Router").count(), 0);
  assert.equal(await offered(page, `shop-${run}`).count(), 0, "nor what depends on it");
  await page.keyboard.press("Escape");
  await page.keyboard.press("Escape");
  await page.goto(new URL(`/targets/${shop.id}`, page.url()).href);
  await page.getByRole("button", { name: "Edit" }).click();
  await page.getByRole("button", { name: "Nothing", exact: true }).click();
  await page.getByRole("button", { name: "Save changes" }).click();
  await until("no parent", async () => (await read(shop)).parent_id === null);
  assert.deepEqual(trouble, []);
  await context.close();
  for (const target of (await must("GET", `/targets?search=${run}`)).items)
    await must("DELETE", `/targets/${target.id}`);
});
