// Who was told of a target's incidents, and who changed its settings, in a real browser.
// By itself or after the others: it makes the account when there is none.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { inEveryMode, invited, must, often, openPage, quiet, signIn, startBrowser, verifyOnly } from "./harness.mjs";

const run = Date.now().toString(36);
const secrets = { hook: `hook-${run}`, key: `signing-${run}`, header: `header-${run}`, changed: `changed-${run}` };
const server = createServer((request, response) => response.writeHead(request.url === "/good" ? 200 : 500).end("ok"));
let browser;
let state; // the signed-in browser's cookies
let shop; // it is down, and somebody is told of it, as far as that goes
let quietly; // nobody is told of this one
let rule;
const made = []; // to be removed again, the last first

before(async () => {
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  browser = await startBrowser();
  state = await signIn(browser);
  const url = `http://127.0.0.1:${server.address().port}`;
  const headers = [{ name: "X-Key", secret: secrets.header }];
  quietly = await must("POST", "/targets", { url: `${url}/good`, name: `Quiet ${run}`, ...often });
  shop = await must("POST", "/targets", {
    url: `${url}/${run}`,
    name: `Till ${run}`,
    ...often,
    http: { headers },
  });
  made.push(`/targets/${quietly.id}`, `/targets/${shop.id}`);
  const channel = await must("POST", "/channels", {
    name: `Desk ${run}`,
    webhook: { url: `http://127.0.0.1:9/${secrets.hook}`, secret: secrets.key },
  });
  made.push(`/channels/${channel.id}`);
  rule = await must("POST", "/notification-rules", {
    name: `Tills ${run}`,
    target_ids: [shop.id],
    channel_ids: [channel.id],
    escalations: [{ after_minutes: 30, channel_ids: [channel.id] }],
  });
  made.push(`/notification-rules/${rule.id}`);
});
after(async () => {
  for (const path of made.reverse()) await must("DELETE", path);
  await browser?.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const card = (page, name) => page.getByRole("region", { name, exact: true });
const alerts = (page) => card(page, "Alerts");
const revisions = (page) => card(page, "Changes of its settings");

test("where nobody would be told it is said, with the way to the rules", verifyOnly, async () => {
  const { context, page, trouble } = await openPage(browser, state, `/targets/${quietly.id}`);
  const none = (route) => route.fulfill({ json: { items: [] } }); // others may have left some
  await page.route("**/api/v1/notification-rules:match", none);
  await page.reload();
  await alerts(page).getByText("Nobody is told when this target fails").waitFor();
  await page.unroute("**/api/v1/notification-rules:match");
  await must("PATCH", `/notification-rules/${rule.id}`, { target_ids: [shop.id, quietly.id] });
  await page.reload();
  await alerts(page).getByText("Nothing was to be told yet. Who will be told is said by").waitFor();
  await alerts(page).getByRole("link", { name: "notification rules" }).click();
  await page.waitForURL(/\/settings\/rules$/);
  await must("PATCH", `/notification-rules/${rule.id}`, { target_ids: [shop.id] });
  assert.deepEqual(trouble, []);
  await context.close();
});

test("who is told of an incident is on the target's page: what did not arrive and why, what waits, and what nobody needs any more", async () => {
  const { context, page, trouble } = await openPage(browser, state, `/targets/${shop.id}`);
  const answers = [];
  page.on("response", async (response) => {
    if (response.url().includes("/deliveries?")) answers.push(await response.text().catch(() => "")); // of a page that was left
  });
  const again = alerts(page).locator("[data-result=again]");
  await again.waitFor();
  assert.match(await again.innerText(), /opened, incident \d+ · Not delivered yet, tried again \d/);
  assert.equal(await again.locator(".past-who").innerText(), `Desk ${run}`);
  const [told] = (await must("GET", `/targets/${shop.id}/deliveries`)).items.filter((one) => one.event === "opened");
  assert.ok(told.reason);
  assert.equal((await again.locator(".past-why").innerText()).trim(), told.reason);
  await alerts(page).locator("[data-result=waiting]", { hasText: "escalated" }).waitFor();
  assert.match(await alerts(page).locator("[data-result=waiting]").innerText(), /Waits until \d/);
  await must("POST", `/incidents/${told.incident_id}:acknowledge`, {});
  await alerts(page).locator("[data-result=cancelled]", { hasText: "Not needed any more" }).waitFor();
  await again.getByRole("link", { name: `opened, incident ${told.incident_id}` }).click();
  await page.waitForURL(new RegExp(`/incidents/${told.incident_id}$`));
  assert.ok(answers.length > 0);
  for (const secret of Object.values(secrets)) assert.ok(!answers.join("").includes(secret), `${secret} is there`);
  assert.deepEqual(trouble, []);
  await context.close();
});

test("what was changed of a target is told as it is changed, with who did it; secrets only that they were", async () => {
  const { context, page, trouble } = await openPage(browser, state, `/targets/${shop.id}`);
  const answers = [];
  page.on("response", async (response) => {
    if (response.url().includes("/revisions?")) answers.push(await response.text().catch(() => "")); // of a page that was left
  });
  const entries = revisions(page).locator(".revisions > li");
  await revisions(page).getByText("Added a target").waitFor();
  assert.equal(await entries.count(), 1);
  await must("PATCH", `/targets/${shop.id}`, { interval_s: 20, timeout_ms: 4000 });
  await entries.nth(1).waitFor();
  assert.match(await entries.first().innerText(), /Interval\s+2 s\s+20 s\s+Timeout\s+10 s\s+4 s/);
  await page.getByRole("button", { name: "Pause", exact: true }).click();
  await entries.nth(2).waitFor();
  assert.match(await entries.first().innerText(), /^You[\s\S]*Checks\s+Running\s+Paused/);
  await page.getByRole("button", { name: "Resume", exact: true }).click();
  await entries.nth(3).waitFor();

  const headers = [{ name: "X-Key", secret: secrets.changed }];
  await must("PATCH", `/targets/${shop.id}`, { http: { headers } });
  await page.reload();
  await entries.nth(4).waitFor();
  assert.match(await entries.first().innerText(), /Headers\s+Changed; it is never shown/);
  await page.setViewportSize({ width: 390, height: 844 });
  const line = await entries.first().getByText("Changed; it is never shown").boundingBox();
  assert.ok(line.width > 150, `it has ${line.width} px on a phone`);
  await page.setViewportSize({ width: 1280, height: 860 });
  for (let i = 1; i <= 7; i++) await must("PATCH", `/targets/${shop.id}`, { tags: [`round-${i}`] });
  await page.reload();
  await entries.nth(9).waitFor();
  assert.equal(await entries.count(), 10);
  assert.match(await entries.first().innerText(), /Tags\s+round-6\s+round-7/);
  await revisions(page).getByRole("button", { name: "Show older" }).click();
  await entries.nth(11).waitFor();
  assert.match(await entries.last().innerText(), /Added a target/);
  assert.ok(answers.length > 0);
  for (const secret of Object.values(secrets)) assert.ok(!answers.join("").includes(secret), `${secret} is there`);
  assert.deepEqual(trouble, []);
  await context.close();
});

test("who may only look sees both", verifyOnly, async () => {
  const viewer = await invited(browser, `alerts-${run}@example.com`, "Vera", "viewer");
  const { context, page, trouble } = await openPage(browser, viewer, `/targets/${shop.id}`);
  await alerts(page).locator("[data-result]").first().waitFor();
  await revisions(page).getByText("Tags").first().waitFor();
  assert.equal(await revisions(page).getByRole("link", { name: "Audit log" }).count(), 0, "that is for owners");
  assert.deepEqual(trouble, []);
  await context.close();
});

test("both in every mode: nothing moves above them, nothing overflows", verifyOnly, async () => {
  const ready = async (page) => {
    await alerts(page).locator("[data-result], .pad").first().waitFor();
    await revisions(page).locator("li").first().waitFor();
    await quiet(page);
  };
  const wrong = await inEveryMode(browser, state, [
    ["alerts", `/targets/${shop.id}`, ready],
    ["alerts-none", `/targets/${quietly.id}`, ready],
  ]);
  assert.deepEqual(wrong, []);
});
