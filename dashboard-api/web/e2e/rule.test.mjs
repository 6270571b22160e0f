// Another rule in a real browser: a target fails for a while, another rule is tried on that,
// and used. By itself or after the others: it makes the account when there is none.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { inEveryMode, must, often, settings, signIn, startBrowser, until, verifyOnly, watchPage } from "./harness.mjs";

const run = Date.now().toString(36);
const seldomEnough = { ...often, interval_s: 3 }; // what is checked more often has too many results to try a month
let browser;
let state; // the signed-in browser's cookies
let watched;
let status = 200;
const server = createServer((_, response) => response.writeHead(status).end("ok"));

before(async () => {
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  browser = await startBrowser();
  state = await signIn(browser);
});
after(async () => {
  await browser?.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

async function signedIn(options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, ...options, storageState: state });
  const page = await context.newPage();
  return { context, page, trouble: watchPage(page) };
}

test("a target fails for a while, and recovers", async () => {
  const url = `http://127.0.0.1:${server.address().port}/${run}`;
  watched = await must("POST", "/targets", { url, name: `Shop ${run}`, ...seldomEnough });
  const shows = async (word) =>
    (await must("GET", "/live/snapshot")).items.find((item) => item.id === watched.id)?.state === word;
  await until("it is up", () => shows("up"));
  await until("a slot that both regions have looked at", async () => {
    const [one, other] = (await must("GET", `/targets/${watched.id}/results?limit=2`)).items;
    return one && one.scheduled_at === other?.scheduled_at;
  });
  status = 500;
  await until("it is down", () => shows("down"));
  await until(
    "two slots fail in both regions",
    async () =>
      (await must("GET", `/targets/${watched.id}/results`)).items.filter((one) => one.status === "down").length > 3,
  );
  status = 200;
  await until("it is up again", () => shows("up"));
});

test("by keyboard: another rule is tried, a mistake is told at its field, and the rule is used", async () => {
  const { context, page, trouble } = await signedIn();
  await page.goto(new URL(`/targets/${watched.id}`, settings.base).href);
  await page.getByRole("link", { name: "Rule", exact: true }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "Try another rule" }).waitFor();

  const inARow = page.getByLabel("Failing results in a row");
  await inARow.focus();
  await page.keyboard.type("two");
  await page.keyboard.press("Enter");
  await page.getByText("Enter a whole number.").waitFor();
  assert.ok(await inARow.evaluate((node) => node === document.activeElement), "the mistake has the focus");
  await inARow.fill("11");
  await page.keyboard.press("Enter");
  await page.getByText("Want 1 to 10 results").waitFor();
  assert.equal(await inARow.getAttribute("aria-invalid"), "true");
  trouble.length = 0; // the browser says that a request was refused

  await inARow.fill("10");
  await page.keyboard.press("Enter");
  const figures = page.locator(".rule-figures");
  await figures.waitFor();
  const line = async (word) =>
    (await figures.getByRole("row", { name: word }).getByRole("cell").allInnerTexts()).map((text) => text.trim());
  assert.deepEqual(await line("Pages"), ["1", "0"]);
  assert.deepEqual(await line("Incidents"), ["1", "0"]);
  assert.equal((await line("Usual delay"))[1], "–");
  assert.match(await page.locator("[data-compared] h2").innerText(), /1 fewer page/);
  assert.match(await page.getByRole("img", { name: /^Now/ }).getAttribute("aria-label"), /1 pages/);
  assert.match(await page.locator("[data-compared] table").last().innerText(), /paged after .*no incident/s);
  assert.equal((await must("GET", `/targets/${watched.id}`)).policy.down_after, undefined, "trying changes nothing");

  await inARow.fill("2");
  await page.getByText("The rule above has changed since").first().waitFor();
  await page.keyboard.press("Enter");
  await until("the other comparison", async () => (await line("Pages")).join() === "1,1");
  await page.getByRole("button", { name: "Use this rule" }).focus();
  await page.keyboard.press("Enter");
  await page.getByText("is judged by this rule from now on").first().waitFor();
  assert.deepEqual((await must("GET", `/targets/${watched.id}`)).policy, { down_after: 2 });
  await page.goto(new URL(`/targets/${watched.id}/rule`, settings.base).href);
  assert.equal(await page.getByLabel("Failing results in a row").inputValue(), "2");
  assert.deepEqual(trouble, []);
  await context.close();
});

test("how much of the past is tried is in the address", verifyOnly, async () => {
  const { context, page, trouble } = await signedIn();
  // Checked so seldom that three months are not too many results.
  const seldom = await must("POST", "/targets", { url: `${watched.url}/seldom`, interval_s: 10 });
  await until("its first result", async () => (await must("GET", `/targets/${seldom.id}/results`)).items.length > 0);
  await page.goto(new URL(`/targets/${seldom.id}/rule?days=7`, settings.base).href);
  const span = page.getByLabel("Over the last");
  await span.waitFor();
  assert.equal(await span.inputValue(), "7");
  await page.getByLabel("Failing results in a row").fill("4");
  await span.selectOption("90 days");
  await page.waitForURL((url) => url.search === "?days=90");
  assert.equal(await page.getByLabel("Failing results in a row").inputValue(), "4", "what was entered stays");
  const tried = page.waitForRequest((request) => request.method() === "POST" && request.url().includes(":replay"));
  await page.getByRole("button", { name: "Try it" }).click();
  const { from } = (await tried).postDataJSON();
  assert.equal(Math.round((Date.now() - Date.parse(from)) / 86_400_000), 90);
  await page.locator(".rule-figures").waitFor();
  await span.selectOption("30 days");
  await page.waitForURL((url) => url.search === "");
  assert.deepEqual(trouble, []);
  await context.close();
  await must("DELETE", `/targets/${seldom.id}`);
});

test("incidents open by the rule that was used", verifyOnly, async () => {
  const incidents = async () => (await must("GET", `/incidents?target_id=${watched.id}`)).items;
  const afterMs = (incident) => Date.parse(incident.opened_at) - Date.parse(incident.began_at);
  status = 500;
  const [second] = await until("another incident", async () => ((await incidents()).length === 2 ? incidents() : null));
  assert.ok(
    afterMs(second) >= seldomEnough.interval_s * 1000,
    `with the second failing slot, not ${afterMs(second)} ms after the first`,
  );
  status = 200;
  await until("its end", async () => (await incidents())[0].resolved_at);
});

test("in every mode: no overflow, no axe violation, nothing on the console", verifyOnly, async () => {
  const path = `/targets/${watched.id}/rule`;
  const ready = (page) => page.getByLabel("Failing results in a row").waitFor();
  const found = await inEveryMode(browser, state, [
    ["rule", path, ready],
    [
      "rule-compared",
      path,
      async (page) => {
        await ready(page);
        await page.getByLabel("Failing results in a row").fill("1");
        await page.getByRole("button", { name: "A number" }).click();
        await page.getByLabel("How many regions").fill("1");
        await page.getByRole("button", { name: "Try it" }).click();
        await page.locator("[data-compared]").waitFor();
      },
    ],
  ]);
  assert.deepEqual(found, []);
  await must("DELETE", `/targets/${watched.id}`);
});
