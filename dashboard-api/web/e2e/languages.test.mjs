// Every language of the dashboard, in a real browser: words of its own, its direction, nothing that
// does not fit. By itself or after the others: it makes the account when there is none.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import {
  axeViolations,
  must,
  often,
  openPage,
  overflow,
  settings,
  shoot,
  signIn,
  startBrowser,
  startLab,
  until,
  verifyOnly,
} from "./harness.mjs";
import { filled, go } from "./places.mjs";

const folder = new URL("../src/words/catalogues/", import.meta.url);
const codes = readdirSync(folder).map((name) => name.replace(".json", ""));
const words = (code) => JSON.parse(readFileSync(new URL(`${code}.json`, folder), "utf8"));
const rightToLeft = ["ar", "he"];

let browser;
let lab;
let state; // the signed-in browser's cookies
let target;

before(async () => {
  [browser, lab] = await Promise.all([startBrowser(), startLab()]);
  state = await signIn(browser);
  target = await must("POST", "/targets", { url: `${lab.url}/n/languages`, name: "Languages", ...often });
});
after(async () => {
  await browser?.close();
  await lab?.close();
});

const paths = () => [
  "/",
  `/targets/${target.id}`,
  `/targets/${target.id}/rule`,
  "/incidents",
  "/maintenance",
  "/fleet",
  "/reports",
  "/settings",
  "/settings/channels",
  "/settings/rules",
  "/settings/people",
  "/settings/keys",
  "/settings/audit",
  "/settings/pages",
  "/settings/account",
];

const [wide, narrow] = [
  { width: 1280, height: 860 },
  { width: 390, height: 844 },
];

for (const code of codes) {
  test(`${code}: every page speaks it and fits`, verifyOnly, async () => {
    const { context, page, trouble } = await openPage(browser, state, "/settings/transfer", {
      locale: code,
      viewport: wide,
    });
    await filled(page);
    for (const path of paths()) {
      await page.setViewportSize(wide);
      await go(page, path); // the language and the direction belong to the document
      if (path === `/targets/${target.id}`)
        assert.doesNotMatch(await page.locator(".verdict .why").innerText(), /Up in \d|No data/, "why, in English");
      const said = await page.evaluate(() => [document.documentElement.lang, document.documentElement.dir]);
      assert.deepEqual(said, [code, rightToLeft.includes(code) ? "rtl" : "ltr"], path);
      for (const viewport of [wide, narrow]) {
        await page.setViewportSize(viewport);
        const where = `${path} in ${code}, ${viewport.width} pixels wide`;
        await until(`${where}: fits`, async () => (await overflow(page)) <= 0);
        if (["ar", "de"].includes(code)) assert.deepEqual(await axeViolations(page), [], where);
        if (path.startsWith("/targets") || path === "/")
          await shoot(page, `languages-${code}-${viewport.width}${path.replaceAll(/\W+|\d+/g, "-")}`);
        const link = page.getByRole("link", { name: words(code).Settings, exact: true });
        assert.ok((await link.count()) > 0, `${where}: a word of its own for Settings`);
      }
    }
    assert.deepEqual(trouble, []);
    await context.close();
  });
}

test("a language is chosen in the settings, and stays", async () => {
  const { context, page, trouble } = await openPage(browser, state, "/settings", { locale: "en-US" });
  await page.getByLabel("Language").selectOption({ label: "Deutsch" });
  await page.waitForFunction(() => document.documentElement.lang === "de");
  await page.goto(settings.base.href);
  await page
    .getByRole("link", { name: words("de").Settings, exact: true })
    .first()
    .waitFor();
  assert.deepEqual(trouble, []);
  await context.close();
});
