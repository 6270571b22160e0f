// Heartbeats in a real browser: a job is added, pings, fails, gets another address. By
// itself or after dashboard.test.mjs: it makes the account when there is none.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  axeViolations,
  inEveryMode,
  must,
  quiet,
  settings,
  shoot,
  signIn,
  startBrowser,
  until,
  verifyOnly,
  watchPage,
} from "./harness.mjs";

const run = Date.now().toString(36);
let browser;
let state; // the signed-in browser's cookies
const job = { name: `Nightly backup ${run}` };

before(async () => {
  browser = await startBrowser();
  state = await signIn(browser);
});
after(async () => {
  await browser?.close();
});

async function signedIn(options = {}) {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 860 },
    timezoneId: "Europe/Berlin",
    permissions: ["clipboard-read", "clipboard-write"],
    ...options,
    storageState: state,
  });
  const page = await context.newPage();
  return { context, page, trouble: watchPage(page) };
}

const ping = async (path, body) => {
  const answer = await fetch(new URL(path, settings.base), { method: "POST", ...(body ? { body } : {}) });
  return answer.status;
};
const address = async (page, label) =>
  (
    await page
      .getByRole("button", { name: `Copy ${label}` })
      .locator("xpath=preceding-sibling::code")
      .innerText()
  ).trim();

test("a heartbeat is added: cron, zone by search, grace; mistakes land on their fields", async () => {
  const { context, page, trouble } = await signedIn();
  await page.goto(settings.base.href);
  await page.getByRole("button", { name: "Add target" }).first().click();
  await page.getByRole("button", { name: "A job that pings" }).click();
  await page.getByRole("button", { name: "Start watching" }).click();
  await page.getByText("Name the job.").waitFor();
  await page.getByLabel("Name", { exact: true }).fill(job.name);
  await page.getByRole("button", { name: "At fixed times" }).click();
  await page.getByLabel("Cron expression").fill("61 2 * * *");
  await page.getByLabel("Grace", { exact: true }).fill("0.2");
  await page.getByRole("button", { name: "Start watching" }).click();
  await page.getByText("five fields that come", { exact: false }).waitFor();
  await shoot(page, "heartbeat-errors-1280-light");

  const zone = page.getByRole("combobox", { name: "Time zone" });
  assert.equal(await zone.inputValue(), "Europe/Berlin", "the browser's own zone is chosen at first");
  await zone.click();
  await zone.pressSequentially("new york");
  await page.getByRole("option", { name: /America\/New York/ }).waitFor();
  assert.equal(await page.locator(".zone-list [role=option]").count(), 1);
  await shoot(page, "heartbeat-zone-1280-light");
  assert.deepEqual(await axeViolations(page), []);
  await page.keyboard.press("Escape");
  assert.equal(await page.locator("dialog").count(), 1, "Escape closed the list, not the dialog");
  assert.equal(await zone.inputValue(), "Europe/Berlin");
  await zone.press("ArrowDown");
  await zone.pressSequentially("kathm");
  await page.keyboard.press("Enter");
  assert.equal(await zone.inputValue(), "Asia/Kathmandu");
  await page.getByText("UTC+05:45 now", { exact: false }).waitFor();

  await page.getByRole("button", { name: "Nightly" }).click();
  await page.getByLabel("Grace", { exact: true }).fill("10");
  await page.getByRole("button", { name: "Start watching" }).click();
  await page.getByRole("heading", { level: 1, name: job.name }).waitFor();
  job.id = Number(/targets\/(\d+)/.exec(page.url())[1]);
  const stored = await must("GET", `/targets/${job.id}`);
  assert.equal(stored.kind, "heartbeat");
  assert.deepEqual(stored.heartbeat, { cron: "30 2 * * *", zone: "Asia/Kathmandu", grace_s: 600 });
  await page.getByText("30 2 * * *").first().waitFor();
  await page.getByText("Nothing has pinged yet").waitFor();
  assert.deepEqual(
    trouble.filter((line) => !/422/.test(line)),
    [],
  );
  await context.close();
});

test("an edit to a period is stored, and what is expected follows", verifyOnly, async () => {
  const { context, page } = await signedIn();
  await page.goto(new URL(`/targets/${job.id}`, settings.base).href);
  await page.getByRole("button", { name: "Edit" }).click();
  await page.getByRole("button", { name: "After a period" }).click();
  await page.getByRole("button", { name: "5 min" }).click();
  await page.getByRole("button", { name: "Save changes" }).click();
  await page.locator("dialog").waitFor({ state: "detached" });
  await page.getByText("every 5 min, 10 min of grace").waitFor();
  assert.deepEqual((await must("GET", `/targets/${job.id}`)).heartbeat, { period_s: 300, grace_s: 600 });
  await until("the next ping in five minutes", async () =>
    /in [45] min/.test(await page.locator(".standing").innerText()),
  );
  await context.close();
});

test("when a ping is expected is told by the server's clock, not by one that is fast", verifyOnly, async () => {
  const { context, page, trouble } = await signedIn();
  await page.addInitScript(() => {
    const now = Date.now;
    Date.now = () => now() + 2 * 3_600_000;
  });
  await page.goto(new URL(`/targets/${job.id}`, settings.base).href);
  const standing = page.locator(".standing");
  await until("the next ping in minutes", async () => /in [2345] min/.test(await standing.innerText()));
  assert.doesNotMatch(await standing.innerText(), /late/);
  await page.goto(new URL("/fleet", settings.base).href);
  await page
    .getByText("just now")
    .or(page.getByText(/^\d+ s ago$/))
    .first()
    .waitFor();
  assert.equal(await page.getByText("2 h ago").count(), 0, "a prober was heard a moment ago");
  assert.deepEqual(trouble, []);
  await context.close();
});

test("addresses are copied and pinged; pings show at once; a new address ends the old one", async () => {
  const { context, page, trouble } = await signedIn();
  await page.goto(new URL(`/targets/${job.id}`, settings.base).href);
  await page.getByRole("heading", { name: "Ping addresses" }).waitFor();
  const success = await address(page, "success address");
  assert.ok(success.startsWith(new URL("/api/v1/heartbeats/", settings.base).href), success);
  for (const [label, end] of [
    ["start", "/start"],
    ["fail", "/fail"],
    ["log", "/log"],
  ]) {
    assert.equal(await address(page, `${label} address`), success + end);
  }
  await page.getByRole("button", { name: "Copy success address" }).click();
  await page.getByText("Copied").first().waitFor();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), success);
  const line = await address(page, "example line");
  assert.ok(line.includes(`${success}/start`) && line.includes(`${success}/$?`), line);

  assert.equal(await ping(`${success}/start`), 200);
  await page.getByText("started, its end was not told yet").waitFor();
  assert.equal(await ping(success, "backed up 41 files\nall is well"), 200);
  await page.locator(".verdict[data-state=up]").waitFor();
  await page.locator(".log-row").first().waitFor();
  await page.getByText("What came along with the last ping").click();
  await page.getByText("backed up 41 files").first().waitFor();
  assert.equal(await ping(`${success}/3`, "disk full"), 200);
  await page.locator(".verdict[data-state=down]").waitFor();
  await page.getByText("Failed, exit code 3").waitFor();
  await until("both pings in the log", async () => (await page.locator(".log-row").count()) >= 2);

  await page.getByRole("button", { name: "New address" }).click();
  await page.getByRole("button", { name: "Make a new address" }).click();
  await until("another address", async () => (await address(page, "success address")) !== success);
  assert.equal(await ping(success), 404);
  assert.equal(await ping(await address(page, "success address")), 200);
  await page.locator(".verdict[data-state=up]").waitFor();
  assert.deepEqual(trouble, []);
  await context.close();
});

test("its pages in every mode: no errors, no overflow, axe 0", verifyOnly, async () => {
  const pages = [
    ["heartbeat-target", `/targets/${job.id}`, async (page) => page.locator(".log-row").first().waitFor()],
    [
      "heartbeat-check",
      `/targets/${job.id}`,
      async (page) => {
        await page.locator(".log-row").nth(1).click();
        await page.getByText("Pinged").first().waitFor();
        await page.locator(".log-row").first().scrollIntoViewIfNeeded();
      },
    ],
    [
      "heartbeat-add",
      "/",
      async (page) => {
        await page.getByRole("button", { name: "Add target" }).first().click();
        await page.getByRole("button", { name: "A job that pings" }).click();
        await page.getByRole("button", { name: "At fixed times" }).click();
      },
    ],
    [
      "heartbeat-zones",
      "/",
      async (page) => {
        await page.getByRole("button", { name: "Add target" }).first().click();
        await page.getByRole("button", { name: "A job that pings" }).click();
        await page.getByRole("button", { name: "At fixed times" }).click();
        await page.getByRole("combobox", { name: "Time zone" }).click();
        await page.locator(".zone-list [role=option]").nth(5).waitFor();
      },
    ],
    [
      "heartbeat-rotate",
      `/targets/${job.id}`,
      async (page) => {
        await page.getByRole("button", { name: "New address" }).click();
        await page.getByRole("button", { name: "Make a new address" }).waitFor();
      },
    ],
    ["heartbeat-fleet", "/fleet", async (page) => page.locator("table").last().waitFor()],
  ];
  const found = await inEveryMode(
    browser,
    state,
    pages.map(([name, path, ready]) => [name, path, (page) => ready(page).then(() => quiet(page))]),
  );
  assert.deepEqual(found, []);
  await must("DELETE", `/targets/${job.id}`);
});
