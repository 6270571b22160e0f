// What a failing check saw, in a real browser.
// By itself or after the others: it makes the account when there is none.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { inEveryMode, must, often, openPage, shoot, signIn, startBrowser, until, verifyOnly } from "./harness.mjs";

const run = Date.now().toString(36);
const secrets = { sent: `sent-${run}`, answered: `answered-${run}`, cookie: `cookie-${run}` };
let browser;
let site;
let state; // the signed-in browser's cookies
let shop; // it is down, and says much
let good;

/** Leads elsewhere, and answers there with secrets and with what must not run. */
function startSite() {
  const server = createServer((request, response) => {
    if (request.url === "/good") return response.end("ok");
    if (request.url === "/") return response.writeHead(302, { location: "/checkout" }).end();
    response.writeHead(503, {
      "content-type": "text/html",
      "x-api-token": secrets.answered,
      "x-served-by": "till-4",
      "set-cookie": `sid=${secrets.cookie}`,
    });
    response.end(
      `<h1>The till is closed</h1><img src=x onerror="window.ran = true"> you sent ${request.headers["x-key"]}`,
    );
  });
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server)));
}

before(async () => {
  [browser, site] = await Promise.all([startBrowser(), startSite()]);
  state = await signIn(browser);
  const url = `http://127.0.0.1:${site.address().port}`;
  shop = await must("POST", "/targets", {
    url: `${url}/`,
    name: `Shop ${run}`,
    ...often,
    expect: { status: ["100-599"] },
    http: { headers: [{ name: "X-Key", secret: secrets.sent }] },
    assertions: [
      { source: "status", op: "equals", value: "200" },
      { source: "body", op: "contains", value: "All is well", severity: "degrade" },
    ],
  });
  good = await must("POST", "/targets", { url: `${url}/good`, name: `Good ${run}`, ...often });
  const stored = async (target) => (await must("GET", `/targets/${target.id}/results?limit=1`)).items.length > 0;
  await until("both were checked", async () => (await stored(shop)) && (await stored(good)));
});
after(async () => {
  await browser?.close();
  site?.closeAllConnections();
  site?.close();
});

const minutesFromNow = (n) => new Date(Date.now() + n * 60_000).toISOString();

/** Opens the oldest check that is shown, which is stored. */
const openCheck = (page) => page.locator(".log-row").last().click();
const part = (page, name) =>
  page.locator(".seen-part").filter({ has: page.getByRole("heading", { name, exact: true }) });

// Promise: a failed check shows its evidence, without secrets
test("a check that failed shows its hops, what failed, the answer and a command; and no secret", async () => {
  const { context, page, trouble } = await openPage(browser, state, `/targets/${shop.id}`, {
    permissions: ["clipboard-read", "clipboard-write"],
  });
  const asked = [];
  page.on("response", async (response) => {
    if (response.url().includes("/evidence?")) asked.push(await response.text().catch(() => "")); // of a page that was left
  });
  await openCheck(page);
  const failed = part(page, "Failed assertions");
  await failed.getByText("Assertion 1, down").waitFor();
  await failed.getByText("Assertion 2, degraded").waitFor();
  assert.match(await failed.innerText(), /503/, "what was seen instead");

  const hops = part(page, "Requests").locator(".hop");
  assert.equal(await hops.count(), 2);
  assert.match(await hops.first().innerText(), /302/);
  assert.match(await hops.last().innerText(), /\/checkout/);
  assert.match(await hops.last().innerText(), /127\.0\.0\.1/);
  await page.getByRole("list", { name: "Phases of hop 2" }).waitFor();
  const begins = (n) =>
    page
      .getByRole("list", { name: `Phases of hop ${n}` })
      .locator(".p-wait")
      .evaluate((bar) => bar.getBoundingClientRect().left);
  assert.ok((await begins(2)) > (await begins(1)), "the second hop is drawn after the first");

  const answer = await page.getByRole("group", { name: "Status line and headers" }).innerText();
  assert.match(answer, /^HTTP\/1\.1 503 Service Unavailable\n/);
  assert.match(answer, /X-Served-By: till-4/);
  assert.match(answer, /X-Api-Token: \[secret\]/);
  await page.getByText("Cookies it set, without their values: sid").waitFor();

  const body = await page.getByRole("group", { name: "Body" }).innerText();
  assert.match(body, /<h1>The till is closed<\/h1>/, "as text");
  assert.equal(await page.evaluate(() => window.ran), undefined);

  await page.getByRole("button", { name: "Copy the command" }).click();
  await page.getByText("the command copied.").waitFor();
  assert.match(await page.evaluate(() => navigator.clipboard.readText()), /^curl .*127\.0\.0\.1/s);

  const told = asked.join("") + (await page.content());
  for (const secret of Object.values(secrets)) assert.ok(!told.includes(secret), `${secret} is there`);
  assert.ok(asked.length > 0);
  assert.deepEqual(trouble, []);
  await context.close();
});

test(
  "where nothing can be kept it is said, and nothing is asked for; what fails can be tried again",
  verifyOnly,
  async () => {
    const { context, page, trouble } = await openPage(browser, state, `/targets/${good.id}`);
    let asked = 0;
    page.on("request", (request) => {
      if (request.url().includes("/evidence?")) asked++;
    });
    await openCheck(page);
    await page.getByText("What the visit saw is kept only of checks that were not up.").waitFor();
    assert.equal(asked, 0);

    let broken = true;
    const problem = { type: "about:blank", title: "There is no such slot", status: 404, detail: "it is gone" };
    await page.route("**/evidence?*", (route) =>
      broken
        ? route.fulfill({ status: 404, contentType: "application/problem+json", body: JSON.stringify(problem) })
        : route.fallback(),
    );
    await page.goto(page.url().replace(`/${good.id}`, `/${shop.id}`));
    await openCheck(page);
    await page.locator(".log [data-problem]").getByText("it is gone").waitFor();
    broken = false;
    await page.locator(".log").getByRole("button", { name: "Try again" }).click();
    await part(page, "Failed assertions").waitFor();

    await page.unroute("**/evidence?*");
    await page.route("**/evidence?*", async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, json: { ...(await response.json()), evidence: null } });
    });
    await page.reload();
    await openCheck(page);
    await page.getByText("Nothing is stored of what the visit saw", { exact: false }).waitFor();
    assert.deepEqual(
      trouble.filter((line) => !/the server responded with a status of 404/.test(line)),
      [],
    );
    await context.close();
  },
);

test("uptime over 24 hours, 7, 30 and 90 days says how long it was down, and what it rests on", async () => {
  const uptime = async (days) => {
    const from = new Date(Date.now() - days * 86_400_000).toISOString();
    return must("GET", `/targets/${shop.id}/uptime?from=${from}`);
  };
  await until("downtime is counted", async () => (await uptime(90)).downtime_minutes > 0);
  const { context, page, trouble } = await openPage(browser, state, `/targets/${shop.id}`);
  for (const range of ["24 hours", "7 days", "30 days", "90 days"]) {
    const card = page.locator(".stat").filter({ has: page.getByRole("heading", { name: `Uptime, ${range}` }) });
    await card.getByText(/\d+ (s|min).* of downtime/).waitFor();
    await card.getByText(/\d+ checks?, \d+ down/).waitFor();
    await card.getByText("of planned measured", { exact: false }).waitFor();
  }
  const other = await openPage(browser, state, `/targets/${good.id}`);
  await other.page.getByText("no downtime").first().waitFor();
  await other.context.close();
  assert.deepEqual(trouble, []);
  await context.close();
});

/** What has changed is drawn. */
const frames = (page) =>
  page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));

/** Where the chart is, once it is in sight. */
async function plot(page) {
  const over = page.locator(".plot .u-over");
  await over.scrollIntoViewIfNeeded();
  return over.boundingBox();
}

/** Drags across the response times, from one share of their width to another; half way it waits for what is given. */
async function drag(page, from, to, halfWay) {
  const box = await plot(page);
  const y = box.y + box.height / 2;
  await page.mouse.move(box.x + box.width * from - 3, y);
  await page.mouse.move(box.x + box.width * from, y);
  await frames(page);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * ((from + to) / 2), y, { steps: 3 });
  await halfWay?.();
  await page.mouse.move(box.x + box.width * to, y, { steps: 3 });
  await page.mouse.up();
}

test("a range that is dragged across the chart is in the address; the cards and the log follow it, and Escape leads back", async () => {
  const { context, page, trouble } = await openPage(browser, state, `/targets/${shop.id}`);
  const asked = [];
  page.on("request", (request) => {
    const { pathname, searchParams } = new URL(request.url());
    const what = /\/targets\/\d+\/(series|matrix|histogram|results)$/.exec(pathname)?.[1];
    if (what) asked.push({ what, from: searchParams.get("from"), to: searchParams.get("to") });
  });
  const performance = page.getByRole("region", { name: "Response time" });
  await performance.getByText("1 incident", { exact: true }).waitFor();
  await page.locator(".log-row").first().waitFor();
  // Its parts by name: the address says which, and the keyboard goes on from there.
  await page.getByRole("navigation", { name: "On this page" }).getByRole("link", { name: "Checks" }).click();
  await page.waitForURL(/#checks$/);
  await page.locator("h2#checks:focus").waitFor();
  assert.equal(await page.locator(".sections [aria-current]").innerText(), "Checks");
  await page.reload();
  await page.locator("h2#checks:focus").waitFor();
  await performance.getByText("1 incident", { exact: true }).waitFor();
  await page.locator(".log-row").first().waitFor();
  // The beginning of the hour is before the target was there. What is answered meanwhile, and drawn a frame later, takes no drag away.
  await drag(page, 0.1, 0.4, async () => {
    await page.waitForResponse(/\/series\?/);
    await frames(page);
  });
  await page.waitForURL(/[?&]from=2\d{3}-.*&to=2\d{3}-/);
  const zoom = Object.fromEntries(new URL(page.url()).searchParams);
  const minutes = (Date.parse(zoom.to) - Date.parse(zoom.from)) / 60_000;
  assert.ok(minutes > 17 && minutes < 19.5, `three tenths of an hour, not ${minutes} minutes`);
  await performance.getByText("No checks in this range.").waitFor();
  await page.getByRole("heading", { name: "Checks of the range" }).waitFor();
  await page.locator(".log-row").first().waitFor({ state: "detached" });
  assert.equal(await performance.getByText("1 incident", { exact: true }).count(), 0);
  for (const what of ["histogram", "results"])
    assert.ok(
      asked.some((one) => one.what === what && one.from === zoom.from && one.to === zoom.to),
      `${what} of the range: ${JSON.stringify(asked)}`,
    );
  const near = (a, b) => Math.abs(Date.parse(a) - Date.parse(b)) <= 60_000;
  for (const what of ["series", "matrix"])
    assert.ok(
      asked.some((one) => one.what === what && near(one.from, zoom.from) && near(one.to, zoom.to)),
      `${what} of the range: ${JSON.stringify(asked)}`,
    );
  await page.reload();
  await performance.getByText("No checks in this range.").waitFor();
  await page.keyboard.press("Escape");
  await page.waitForURL((url) => url.search === "");
  await page.locator(".log-row").first().waitFor();
  assert.deepEqual(trouble, []);
  await context.close();
});

test(
  "percentiles in place of phases, and the region of the histogram, are in the address and stay there",
  verifyOnly,
  async () => {
    const { context, page, trouble } = await openPage(browser, state, `/targets/${good.id}`);
    const performance = page.getByRole("region", { name: "Response time" });
    await performance.getByText("Mean of each phase").waitFor();
    await performance.getByRole("button", { name: "Percentiles" }).click();
    await page.waitForURL((url) => url.search === "?view=percentiles");
    await performance.getByText("How long most checks took").waitFor();
    const all = ["p50", "p95", "p99"];
    for (const one of all) await performance.locator(".legend").getByText(one, { exact: true }).waitFor();
    const box = await plot(page);
    await page.mouse.move(box.x + box.width - 8, box.y + box.height / 2);
    await until(
      "the legend to have numbers",
      async () => (await performance.locator(".legend b").count()) === all.length,
    );
    const region = page.getByLabel("Region of the histogram");
    await region.selectOption({ index: 1 });
    const chosen = await region.inputValue();
    await page.waitForURL((url) => url.searchParams.get("region") === chosen);
    await performance.getByRole("button", { name: "6 h", exact: true }).click();
    await page.waitForURL((url) => url.searchParams.get("range") === "6h");
    await page.reload();
    await performance.getByText("How long most checks took").waitFor();
    assert.equal(await region.inputValue(), chosen);
    assert.deepEqual(Object.fromEntries(new URL(page.url()).searchParams), {
      range: "6h",
      region: chosen,
      view: "percentiles",
    });
    await performance.getByRole("button", { name: "Table", exact: true }).click();
    for (const one of ["Median (p50)", "p95", "p99"])
      await performance.getByRole("columnheader", { name: one, exact: true }).waitFor();
    await performance.getByRole("button", { name: "Chart", exact: true }).click();
    await performance.getByRole("button", { name: "Phases" }).click();
    await region.selectOption("");
    await page.waitForURL((url) => url.search === "?range=6h");
    await performance.getByText("Mean of each phase").waitFor();
    assert.deepEqual(trouble, []);
    await context.close();
  },
);

test("by keyboard: a range of two fields, and what cannot be shown is said", verifyOnly, async () => {
  const { context, page, trouble } = await openPage(browser, state, `/targets/${shop.id}?range=6h`, {
    timezoneId: "UTC",
  });
  await page.getByRole("button", { name: "Choose a range…" }).press("Enter");
  const from = page.getByLabel("Shown from (UTC)");
  const to = page.getByLabel("until", { exact: true });
  const field = (at) => new Date(at).toISOString().slice(0, 19);
  await from.fill(field(Date.now() + 60_000));
  await to.fill(field(Date.now() - 600_000));
  await to.press("Enter");
  await page.getByRole("alert").getByText("the beginning first", { exact: false }).waitFor();
  await from.fill(field(Date.now() - 1_800_000));
  await to.fill(field(Date.now() + 60_000));
  await to.press("Enter");
  await page.waitForURL(/range=6h&from=.*&to=/);
  await page
    .getByRole("region", { name: "Response time" })
    .getByText(/\d+ checks? in this range, \d+ down/)
    .waitFor();
  await page.getByRole("region", { name: "Response time" }).getByText("1 incident", { exact: true }).waitFor();
  await page.locator(".log-row").first().waitFor();
  const file = page.waitForEvent("download");
  await page.getByRole("region", { name: "Response time" }).getByRole("button", { name: "CSV" }).click();
  const span = /^target-\d+-response-(\d{8}T\d{6})Z-(\d{8}T\d{6})Z\.csv$/.exec((await file).suggestedFilename());
  assert.ok(span, `it is named by what is shown: ${(await file).suggestedFilename()}`);
  const shown = new Date(await from.inputValue().then((value) => `${value}Z`)).toISOString();
  assert.ok(span[1] <= shown.replaceAll(/[:-]|\.000Z/g, "") && span[1] < span[2], span[0]);
  await page.getByRole("button", { name: "Back to the whole range" }).press("Enter");
  await page.waitForURL((url) => url.search === "?range=6h");
  assert.equal(await page.getByRole("button", { name: "6 h", exact: true }).getAttribute("aria-pressed"), "true");
  assert.deepEqual(trouble, []);
  await context.close();
});

test(
  "regions over time: where there is no result yet it says what will be there, in as much room, and of no time",
  verifyOnly,
  async () => {
    const target = await must("POST", "/targets", { url: "http://127.0.0.1:9/", name: `New ${run}`, active: false });
    const teaches = (page) => page.getByText("Each region that checks this target has a row here").waitFor();
    const { context, page, trouble } = await openPage(browser, state, `/targets/${target.id}`);
    await teaches(page);
    await page.getByRole("region", { name: "How long checks take" }).getByText("No check of this range").waitFor();
    assert.doesNotMatch(await page.locator("main").innerText(), /1970/);

    const matrix = page.getByRole("region", { name: "Regions over time" });
    const height = async () => (await matrix.boundingBox()).height;
    await page.route(/\/matrix\?/, async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, json: { ...(await response.json()), x: [], items: [] } });
    });
    await page.goto(new URL(`/targets/${good.id}`, page.url()).href);
    await teaches(page);
    const room = await height();
    await page.unroute(/\/matrix\?/);
    await page.reload();
    await matrix.locator("rect").first().waitFor({ state: "attached" });
    await matrix.getByRole("img", { name: "none found it down", exact: false }).waitFor();
    assert.equal(await height(), room);
    assert.deepEqual(trouble, []);
    await context.close();
    const found = await inEveryMode(browser, state, [["target-new", `/targets/${target.id}`, teaches]]);
    await must("DELETE", `/targets/${target.id}`);
    assert.deepEqual(found, []);
  },
);

test("checks of another day have their date; the bar and the matrix go by the chosen zone", verifyOnly, async () => {
  const hour = new Date().getUTCHours();
  const { context, page, trouble } = await openPage(browser, state, "/settings", {
    timezoneId: `Etc/GMT${hour < 12 ? "" : "+"}${hour - 12}`, // it is noon: today lasts for the test
  });
  await page.route(/\/targets\/\d+\/results\?/, async (route) => {
    const response = await route.fetch();
    const answer = await response.json();
    const before = (at) => new Date(Date.parse(at) - 86_400_000).toISOString();
    const items = answer.items.map((one) => ({ ...one, scheduled_at: before(one.scheduled_at) }));
    await route.fulfill({ response, json: { ...answer, items } });
  });
  await page.goto(new URL(`/targets/${shop.id}`, page.url()).href);
  const times = page.locator(".log-time");
  await until("checks of both days", async () => {
    const all = await times.allInnerTexts();
    return /^\d\d:\d\d:\d\d$/.test(all.at(0)) && /^\d\d \w{3,4},? \d\d:\d\d:\d\d$/.test(all.at(-1));
  });
  await page.unroute(/\/targets\/\d+\/results\?/);

  await page.evaluate(() => localStorage.setItem("probefleet.zone", "utc"));
  const answered = page.waitForResponse(/\/targets\/\d+\/matrix\?/);
  await page.reload();
  const { x, step_s } = await (await answered).json();
  const end = page.locator(".matrix-row").last().locator("[dir=auto]").last();
  await end.getByText(/UTC$/).waitFor();
  assert.equal(Date.parse((await end.innerText()).replace(",", "")), (x.at(-1) + step_s) * 1000);
  const bar = page.locator("svg.ticks").first();
  const { width, height } = await bar.boundingBox();
  await bar.hover({ position: { x: width - 3, y: height / 2 } });
  const at = Number(await bar.getAttribute("data-to"));
  await page.locator(".tip b").getByText(/UTC$/).waitFor();
  const told = Date.parse((await page.locator(".tip b").innerText()).replace(",", ""));
  assert.ok(told <= at && told > at - 60_000, "the newest check, by the clock of UTC");
  assert.deepEqual(trouble, []);
  await context.close();
});

/** A figure's table as it is shown, and its file: each a list of lines, the first its head. */
async function figures(figure) {
  await figure.getByRole("button", { name: "Table" }).click();
  await figure.locator("table").waitFor();
  const table = await figure
    .locator("tr")
    .evaluateAll((all) => all.map((tr) => [...tr.children].map((cell) => cell.textContent)));
  const file = figure.page().waitForEvent("download");
  await figure.getByRole("button", { name: "CSV" }).click();
  const text = await readFile(await (await file).path(), "utf8");
  await figure.getByRole("button", { name: "Chart" }).click();
  return {
    table,
    file: text
      .split("\r\n")
      .map((line) => line.split(","))
      .slice(0, -1),
  };
}

test(
  "the tables and files of the bar, of regions over time and of how long checks take say what the pictures show",
  verifyOnly,
  async () => {
    const from = Math.floor(Date.now() / 600_000) * 600_000 - 3_600_000;
    const target = await must("POST", "/targets", {
      url: `http://127.0.0.1:9/${run}`,
      name: `Figures ${run}`,
      active: false,
    });
    // By minute, of each region: what was found, and in how many milliseconds.
    const sent = {
      here: [["up", 12], ["up", 14], ["down", 900, "timeout"], null, ["degraded", 95], ["up", 12]],
      there: [["up", 40], null, ["up", 41], ["down", 3, "connect_refused"], ["up", 40], ["up", 230]],
    };
    const items = Object.entries(sent).flatMap(([region, minutes]) =>
      minutes.flatMap((one, minute) => {
        if (!one) return [];
        const [status, latency_ms, failure] = one;
        const at = new Date(from + minute * 60_000 + 1_000).toISOString();
        return [{ at, region, status, latency_ms, ...(failure && { failure }) }];
      }),
    );
    await must("POST", `/targets/${target.id}/results`, { items });
    const span = `from=${new Date(from).toISOString()}&to=${new Date(from + 600_000).toISOString()}`;
    // What was down took as long as it took to fail: that is no response time.
    const latencies = (...names) =>
      names.flatMap((name) => sent[name].filter((one) => one && one[0] !== "down").map(([, ms]) => ms));
    const all = latencies("here", "there");
    const stored = async () => (await must("GET", `/targets/${target.id}/histogram?${span}`)).count === all.length;
    await until("the results are stored", stored);
    const { context, page, trouble } = await openPage(browser, state, `/targets/${target.id}?${span}`);

    const matrix = page.getByRole("region", { name: "Regions over time" });
    const rows = matrix.locator(".matrix-row", { has: page.locator("rect") });
    await until("both regions", async () => (await rows.count()) === 2);
    const drawn = Object.fromEntries(
      await rows.evaluateAll((all) =>
        all.map((row) => [
          row.querySelector(".cut").textContent,
          [...row.querySelectorAll("rect")].map((rect) => [
            Math.floor(rect.x.baseVal.value / 10),
            rect.getAttribute("class").slice("m-".length),
          ]),
        ]),
      ),
    );
    const regions = await figures(matrix);
    const dash = (lines) => lines.slice(1).map((line) => line.map((cell) => cell || "–"));
    assert.deepEqual(regions.table.slice(1), dash(regions.file), "the table and the file say the same");
    assert.equal(regions.file[0].join(), "From (UTC),Region,Up,Degraded,Down,Unknown,Missed,Median ms,95th ms");
    for (const [region, minutes] of Object.entries(sent)) {
      const lines = regions.file.filter(([, name]) => name === `ext-${region}`);
      const said = lines.flatMap(([, , up, degraded, down, unknown, missed], i) => {
        const worst = Object.entries({ down, degraded, up, no_data: Number(unknown) + Number(missed) });
        return worst
          .filter(([, n]) => Number(n) > 0)
          .map(([word]) => [i, word])
          .slice(0, 1);
      });
      assert.deepEqual(drawn[`ext-${region}`], said, `the picture of ${region}`);
      const measured = said.filter(([, word]) => word !== "no_data");
      const wanted = minutes.flatMap((one, minute) => (one ? [[minute, one[0]]] : []));
      assert.deepEqual(
        measured.map(([i, word]) => [(Date.parse(lines[i][0]) - from) / 60_000, word]),
        wanted,
        `what was sent of ${region}`,
      );
      for (const [minute] of wanted) {
        const line = lines.find(([at]) => Date.parse(at) === from + minute * 60_000);
        const [status, ms] = minutes[minute];
        const figure = status === "down" ? "" : String(ms);
        assert.deepEqual(line.slice(7), [figure, figure], `${region}, minute ${minute}`);
      }
    }

    const bar = page.getByRole("region", { name: "Last 90 checks", exact: true });
    await bar.getByRole("img", { name: "Last 6 checks: 3 up, 2 degraded, 1 down", exact: true }).waitFor();
    const checks = await figures(bar);
    const said = { timeout: "No answer in time", connect_refused: "The connection was refused" };
    const each = [5, 4, 3, 2, 1, 0].flatMap((minute) =>
      Object.entries(sent).flatMap(([region, minutes]) => {
        const [status, ms, failure = ""] = minutes[minute] ?? [];
        const word = status && status[0].toUpperCase() + status.slice(1);
        return status ? [{ at: from + minute * 60_000 + 1_000, region: `ext-${region}`, word, ms, failure }] : [];
      }),
    );
    assert.deepEqual(checks.file, [
      ["Scheduled (UTC)", "Region", "State", "Took ms", "Reason"],
      ...each.map(({ at, region, word, ms, failure }) => [new Date(at).toISOString(), region, word, `${ms}`, failure]),
    ]);
    assert.deepEqual(
      checks.table.slice(1).map((line) => line.slice(1)),
      each.map(({ region, word, ms, failure }) => [
        region,
        word,
        `${ms < 10 ? ms.toFixed(1) : ms} ms`,
        said[failure] ?? "",
      ]),
    );
    await bar.getByRole("button", { name: "Table of Last 90 checks" }).press("Enter");
    await page.keyboard.press("Shift+Tab"); // the table stands before the button
    await bar.locator("[aria-label='Last 90 checks as a table']:focus").waitFor();

    const histogram = page.getByRole("region", { name: "How long checks take" });
    const agree = async (times) => {
      await until("the bars", async () => {
        const bars = await histogram.locator("rect title").allTextContents();
        return bars.reduce((sum, bar) => sum + Number(/: (\d+)$/.exec(bar)[1]), 0) === times.length;
      });
      const bars = await histogram
        .locator(".histogram svg rect")
        .evaluateAll((all) => all.map((bar) => [bar.height.baseVal.value, bar.querySelector("title").textContent]));
      const { table, file } = await figures(histogram);
      const [head, ...lines] = file;
      assert.equal(head.join(), "From ms,To ms,Checks,Share");
      assert.equal(lines.length, bars.length, "a line for each bar");
      const most = Math.max(...lines.map(([, , n]) => Number(n)));
      for (const [i, [least, limit, n, share]] of lines.entries()) {
        const within = times.filter((ms) => ms >= Number(least) && ms < Number(limit)).length;
        assert.equal(Number(n), within, `${least} to ${limit} ms`);
        const [height, title] = bars[i];
        assert.match(title, new RegExp(`: ${n}$`));
        assert.ok(Math.abs(height - (within / most) * 120) < 0.01, `${within} of ${most} are ${height} high`);
        assert.equal(
          share,
          `${within === times.length ? "100" : (Math.floor((within / times.length) * 1000) / 10).toFixed(1)}%`,
        );
      }
      const told = (line) => line.map((cell) => (/^[\d.]+$/.test(cell) ? Number(cell) : Number.parseFloat(cell)));
      assert.deepEqual(
        table.slice(1).map(told),
        lines.map((line) => told(line).map((n) => Math.round(n * 1000) / 1000)),
        "the table and the file say the same",
      );
    };
    await agree(all);
    await histogram.getByLabel("Region of the histogram").selectOption("ext-there");
    await agree(latencies("there"));
    assert.deepEqual(trouble, []);
    await context.close();
    await must("DELETE", `/targets/${target.id}`);
  },
);

test(
  "where the system chooses the colours, the squares of the year are told apart, and how bad a day was",
  verifyOnly,
  async () => {
    const { context, page } = await openPage(browser, state, `/targets/${good.id}`, { forcedColors: "active" });
    const keys = page.locator(".year-legend li");
    await keys.first().waitFor();
    const looks = await keys.evaluateAll((all) =>
      all.map((key) => {
        const shapes = [...key.querySelectorAll("rect, path")].map((shape) => {
          const { fill, strokeDasharray } = getComputedStyle(shape);
          return `${fill} ${strokeDasharray} ${shape.getAttribute("d") ?? shape.getAttribute("height")}`;
        });
        return shapes.join(" and ");
      }),
    );
    assert.equal(new Set(looks).size, 7, looks.join("; "));
    await keys.first().scrollIntoViewIfNeeded();
    await shoot(page, "year-legend-forced-colours");
    await context.close();
  },
);

test("in every mode: no overflow, no axe violation, nothing on the console", verifyOnly, async () => {
  const name = (of) => `CN=${of},O=Example Trust Services and Sons Limited,C=AT`;
  const certificate = (of, issuer, not_after) => ({
    subject: name(of),
    issuer: name(issuer),
    names: of.includes(".") ? [of, `www.${of}`] : [],
    not_before: "2026-01-01T00:00:00Z",
    not_after,
    sha256: of.length.toString(16).padStart(64, "a"),
  });
  // A new row of the log moves those below.
  for (const { id } of [shop, good]) await must("PATCH", `/targets/${id}`, { interval_s: 3600 });
  // The site has no certificate: what one would add is added to what is really stored.
  const more = {
    tls_version: "1.3",
    tls_cipher: "TLS_AES_128_GCM_SHA256",
    certificates: [
      certificate("shop.example.com", "Example CA 3", "2026-02-01T00:00:00Z"),
      certificate("Example CA 3", "Example Root", "2199-01-01T00:00:00Z"),
    ],
    rcode: "NOERROR",
    records: [{ type: "A", data: "192.0.2.1", ttl: 60 }],
  };
  const found = await inEveryMode(browser, state, [
    [
      "target-evidence",
      `/targets/${shop.id}`,
      async (page) => {
        await page.route("**/evidence?*", async (route) => {
          const response = await route.fetch();
          const answer = await response.json();
          await route.fulfill({ response, json: { ...answer, evidence: { ...answer.evidence, ...more } } });
        });
        await openCheck(page);
        await part(page, "Certificates").getByText("it had expired", { exact: false }).waitFor();
        assert.equal(await part(page, "Certificates").getByText("it had expired", { exact: false }).count(), 1);
      },
    ],
    [
      "target-evidence-none",
      `/targets/${good.id}`,
      async (page) => {
        await openCheck(page);
        await page.getByText("What the visit saw is kept only", { exact: false }).waitFor();
      },
    ],
    [
      "target-percentiles",
      `/targets/${shop.id}?view=percentiles`,
      async (page) => {
        await page.getByText("How long most checks took").waitFor();
        await page.locator(".plot canvas").waitFor();
      },
    ],
    [
      "target-zoom",
      `/targets/${shop.id}?from=${minutesFromNow(-20)}&to=${minutesFromNow(1)}`,
      async (page) => {
        await page.getByRole("region", { name: "Response time" }).getByText("1 incident", { exact: true }).waitFor();
        await page.locator(".log-row").first().waitFor();
      },
    ],
  ]);
  assert.deepEqual(found, []);
  for (const target of [shop, good]) await must("DELETE", `/targets/${target.id}`);
});
