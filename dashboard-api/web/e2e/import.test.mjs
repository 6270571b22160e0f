// Targets as a file, in a real browser: an export is taken, a table is judged, imported and judged again.
// By itself or after the others: it makes the account when there is none.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import {
  axeViolations,
  inEveryMode,
  must,
  openPage,
  overflow,
  shoot,
  signIn,
  startBrowser,
  startLab,
  targetByUrl,
  verifyOnly,
} from "./harness.mjs";

const run = Date.now().toString(36);
let browser;
let lab;
let state;
let there; // a target that the file is about, too

before(async () => {
  [browser, lab] = await Promise.all([startBrowser(), startLab()]);
  state = await signIn(browser);
  there = await must("POST", "/targets", { url: `${lab.url}/import/${run}`, name: `There ${run}`, interval_s: 60 });
});
after(async () => {
  await browser?.close();
  await lab?.close();
});

const table = () =>
  [
    "url,name,interval_s,tags,regions",
    `${lab.url}/import/${run},There ${run},90,imported,`,
    `${lab.url}/import/${run}/new,New ${run},60,imported prod,`,
    `${lab.url}/import/${run}/soon,Soon ${run},soon,,`,
    `file:///etc/passwd,Bad ${run},60,,nowhere`,
  ].join("\n");

const row = (page, text) => page.getByRole("row").filter({ hasText: text });

/** Pastes the table, and has it judged. */
async function judge(page) {
  await page.getByLabel("Or paste it").fill(table());
  await page.getByRole("button", { name: "See what would change" }).click();
  await page.locator("[data-import=judged]").waitFor();
}

// Promise: targets are imported from a table, once
test("a table is judged, imported, and changes nothing the second time", async () => {
  const { context, page, trouble } = await openPage(browser, state, "/settings");
  await page.getByRole("navigation", { name: "Settings" }).getByRole("link", { name: "Import and export" }).click();
  await page.getByRole("button", { name: "See what would change" }).click();
  await page.getByText("Choose a file, or paste its content.").waitFor();
  await page.getByLabel("Or paste it").focus();
  await page.keyboard.insertText(table());
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.getByText("1 would be created, 1 changed, 0 unchanged, 2 refused.").first().waitFor();
  await row(page, `There ${run}`).getByText("interval_s: 60 → 90").waitFor();
  await row(page, `There ${run}`).getByText("tags: — → imported").waitFor();
  await row(page, `New ${run}`).getByText("Would be created").waitFor();
  await row(page, `Soon ${run}`).getByText("Must be a whole number.").waitFor();
  assert.equal(await targetByUrl(`${lab.url}/import/${run}/new`), undefined, "nothing was written yet");
  assert.equal((await must("GET", `/targets/${there.id}`)).interval_s, 60);

  await page.getByLabel("Only what is refused").check();
  await row(page, `New ${run}`).waitFor({ state: "detached" });
  assert.equal(await page.locator("tr[data-outcome]").count(), 2);
  await page.getByLabel("Only what is refused").uncheck();

  await page.getByRole("button", { name: "Import 2 targets" }).click();
  await page.getByText("1 created, 1 changed, 0 unchanged, 2 refused.").first().waitFor();
  await row(page, `New ${run}`)
    .getByText(/^Tested: (up|down) from .+ in \d+ ms\.$/)
    .waitFor();
  assert.equal(await page.getByText(/^Test(ed:|ing$)/).count(), 1, "what is visited as before is not tested");
  assert.deepEqual(await axeViolations(page), []);
  assert.equal(await overflow(page), 0);
  await shoot(page, "imported-1280-light", true);
  const made = await targetByUrl(`${lab.url}/import/${run}/new`);
  assert.deepEqual([made.name, made.interval_s, made.tags], [`New ${run}`, 60, ["imported", "prod"]]);
  const changed = await must("GET", `/targets/${there.id}`);
  assert.deepEqual([changed.interval_s, changed.tags], [90, ["imported"]]);

  await page.getByRole("button", { name: "See what would change" }).click();
  await page.getByText("0 would be created, 0 changed, 2 unchanged, 2 refused.").first().waitFor();
  assert.equal(await page.getByRole("button", { name: /^Import \d/ }).count(), 0, "there is nothing to import");
  await row(page, `New ${run}`)
    .getByRole("link", { name: `New ${run}` })
    .click();
  await page.getByRole("heading", { name: `New ${run}` }).waitFor();
  assert.deepEqual(trouble, []);
  await context.close();
});

test("an export is a file that can be chosen again", verifyOnly, async () => {
  const { context, page, trouble } = await openPage(browser, state, "/settings/transfer");
  for (const [name, has] of [
    ["CSV", `,There ${run},http,`],
    ["JSON", `"name":"There ${run}"`],
  ]) {
    const [file] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("link", { name, exact: true }).click(),
    ]);
    const path = await file.path();
    const content = await readFile(path, "utf8");
    assert.ok(content.includes(has), `${name} has no ${has}`);
    await page.getByLabel("File", { exact: true }).setInputFiles(path);
    await page.waitForFunction((length) => document.querySelector("textarea")?.value.length === length, content.length);
    await page.getByRole("button", { name: "See what would change" }).click();
    await page.locator("[data-import=judged]", { hasText: "0 would be created, 0 changed," }).waitFor();
    assert.equal(await page.locator("tr[data-outcome=refused]").count(), 0);
  }
  await page.getByLabel("Or paste it").fill('{"targets":[');
  await page.getByRole("button", { name: "See what would change" }).click();
  await page.getByText("This is not JSON that can be read").waitFor();
  assert.deepEqual(trouble, []);
  await context.close();
});

test("in every mode: nothing overflows, no violation", verifyOnly, async () => {
  const found = await inEveryMode(browser, state, [
    ["transfer", "/settings/transfer", (page) => page.getByRole("heading", { name: "Import", exact: true }).waitFor()],
    [
      "import-judged",
      "/settings/transfer",
      async (page) => {
        await page.getByRole("heading", { name: "Import", exact: true }).waitFor();
        await judge(page);
      },
    ],
  ]);
  assert.deepEqual(found, []);
});
