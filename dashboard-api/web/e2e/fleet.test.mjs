// What an owner does about a region that is gone, in a real browser: it is retired, its prober forgotten.
// What it says of probers and dead letters comes first; REDIS_URL is where those are put in. With that, CLICKHOUSE_URL,
// SECRET_KEY, PROBER_CANARIES and PROBER_ALLOW_CIDRS a prober of a new region is run, from the folder PROGRAMS.
// GONE_REGION is one whose only prober has been killed; it is silent after three of its heartbeats.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import { connect } from "node:net";
import { after, before, test } from "node:test";
import {
  axeViolations,
  inEveryMode,
  must,
  often,
  openPage,
  settings,
  shoot,
  signIn,
  startBrowser,
  until,
  verifyOnly,
} from "./harness.mjs";

const region = settings.goneRegion;
let browser;
let state; // the owner's cookies

before(async () => {
  assert.ok(region, "GONE_REGION is not set: a region whose only prober has been killed");
  browser = await startBrowser();
  state = await signIn(browser);
});
after(() => browser?.close());

const plan = async () => (await must("GET", "/regions")).items.find((one) => one.region === region);
const prober = async () =>
  (await must("GET", "/fleet")).regions.find((one) => one.region === region)?.probers?.find(() => true);

/** Asks Redis one thing, and gives the last line of its answer. */
function redis(...words) {
  const { hostname, port, password } = new URL(settings.redisURL);
  const say = (all) => `*${all.length}\r\n${all.map((one) => `$${Buffer.byteLength(one)}\r\n${one}\r\n`).join("")}`;
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    let said = "";
    socket.on("error", reject);
    socket.on("data", (bytes) => {
      said += bytes;
      const lines = said.split("\r\n"); // +OK, and a number or a string with its length
      if (lines.length < (lines[1]?.startsWith("$") ? 4 : 3)) return;
      socket.end();
      if (lines.some((line) => line.startsWith("-"))) reject(new Error(said));
      else resolve(lines.at(-2));
    });
    socket.write(say(["AUTH", decodeURIComponent(password)]) + say(words));
  });
}

/** Puts in a result that ClickHouse refused, and an entry that nobody can read. */
async function putLetters(target, region) {
  const slot = new Date(Date.now() - 1_800_000);
  const row = JSON.stringify({
    TargetID: target,
    Region: region,
    ScheduledAt: slot.toISOString(),
    Status: "unknown",
    Reason: "host_budget",
    Prober: "e2e",
  });
  const common = ["XADD", "{pf}:dead", "*", "region", region, "prober", `${region}-1`, "deliveries", "4"];
  const entry = `${Math.floor(slot / 1000) * 1000}-${target}`;
  const good = await redis(...common, "id", entry, "reason", "the store refused this row", "row", row);
  const garbage = await redis(...common, "id", "0-0", "reason", "nobody can read this entry", "f:x", "\u0001");
  return { good, garbage };
}

const letters = async () => (await must("GET", "/dead-letters")).items;
const live = async () =>
  (await must("GET", "/fleet")).regions.find((one) => one.live && one.region !== region && one.probers.length > 0);

test("how a prober itself is: its clock, its canaries, its start", verifyOnly, async () => {
  const { region: name, probers } = await until("a region that lives", live);
  const open = async (page) => {
    const card = page.getByRole("region", { name: `Region ${name}`, exact: true });
    await card.getByRole("button", { name: `${probers[0].name} Details` }).click();
    await card.getByText("In step with Redis", { exact: false }).waitFor();
    await card.getByText("Canaries", { exact: true }).waitFor();
    return card;
  };
  const { context, page, trouble } = await openPage(browser, state, "/fleet");
  const card = await open(page);
  const opener = card.getByRole("button", { name: `${probers[0].name} Details` });
  assert.equal(await opener.getAttribute("aria-expanded"), "true");
  await page.getByText(/planned = .* measured/).waitFor();
  await page.getByText("The publisher noted", { exact: false }).waitFor();
  await opener.focus();
  await page.keyboard.press("Enter");
  await card.getByText("In step with Redis", { exact: false }).waitFor({ state: "detached" });
  assert.deepEqual(trouble, []);
  await context.close();
  assert.deepEqual(await inEveryMode(browser, state, [["fleet-prober", "/fleet", open]]), []);
});

test("the database is beside the other stores, and says how soon it answers", verifyOnly, async () => {
  const { context, page, trouble } = await openPage(browser, state, "/fleet");
  const { engine, ok, latency_ms } = (await must("GET", "/fleet")).database;
  assert.ok(ok && latency_ms > 0, `${engine}: ${ok}, ${latency_ms}`);
  const card = page.locator(".stat", { hasText: engine === "postgres" ? "PostgreSQL" : "SQLite" });
  await card.getByText("Answering", { exact: true }).waitFor();
  await card.getByText(/^answers in [\d.,]+ ms$/).waitFor();
  assert.deepEqual(trouble, []);
  await context.close();
});

test("the period of the ledger is in the address", verifyOnly, async () => {
  const { context, page, trouble } = await openPage(browser, state, "/fleet");
  const period = page.getByLabel("Period");
  const asked = (hours) =>
    page.waitForRequest((request) => {
      const { pathname, searchParams } = new URL(request.url());
      const span = Date.parse(searchParams.get("to")) - Date.parse(searchParams.get("from"));
      return pathname.endsWith("/ledger") && span === hours * 3_600_000;
    });
  await period.waitFor();
  const day = asked(24);
  await period.selectOption("Last 24 hours");
  await page.waitForURL((url) => url.search === "?ledger=24h");
  await day;
  const again = asked(24);
  await page.reload();
  await again;
  assert.equal(await period.inputValue(), "24h");
  await period.selectOption("Last hour");
  await page.waitForURL((url) => url.search === "");
  assert.deepEqual(trouble, []);
  await context.close();
});

// Promise: a prober is drained and resumed in the browser
test("a prober is drained, after what that means was said, and resumed", async () => {
  const { region: name, probers } = await until("a region that lives", live);
  const who = probers[0].name;
  const held = []; // visits that are not answered yet
  let hold = true;
  const slow = createServer((_, response) => (hold ? held.push(response) : response.end("ok")));
  await new Promise((resolve) => slow.listen(0, "127.0.0.1", resolve));
  const phase = async () =>
    (await must("GET", "/fleet")).regions.find((one) => one.region === name).probers.find((one) => one.name === who)
      .state;
  const cardOf = (page) => page.getByRole("region", { name: `Region ${name}`, exact: true });
  const ask = async (page) => {
    await cardOf(page)
      .getByRole("button", { name: `Drain ${who}` })
      .click();
    await page.getByRole("heading", { name: `Drain ${who}?` }).waitFor();
  };
  assert.deepEqual(await inEveryMode(browser, state, [["drain", "/fleet", ask]]), []);

  const { context, page, trouble } = await openPage(browser, state, "/fleet");
  const card = cardOf(page);
  const row = card.getByRole("row", { name: who });
  const drain = row.getByRole("button", { name: `Drain ${who}` });
  await drain.focus();
  await page.keyboard.press("Enter");
  await page.getByText(`It is the only prober of ${name} at work`, { exact: false }).waitFor();
  await page.keyboard.press("Escape");
  await page.locator("dialog").waitFor({ state: "detached" });
  assert.equal(await phase(), "", "nothing was done yet");
  const url = `http://127.0.0.1:${slow.address().port}/slow`;
  const target = await must("POST", "/targets", { url, interval_s: 30, timeout_ms: 25_000, regions: [name] });
  await until("a visit that waits", () => held.length > 0);
  await drain.click();
  await page
    .locator("dialog")
    .getByRole("button", { name: `Drain ${who}` })
    .click();
  await page.getByText(`${who} finishes what it holds, and takes nothing on.`).first().waitFor();
  await row.getByText("draining", { exact: true }).waitFor();
  assert.equal(await phase(), "draining", "it waits for the visit");
  hold = false;
  for (const response of held) response.end("ok");
  await row.getByText("drained", { exact: true }).waitFor();
  assert.equal(await phase(), "drained");
  const drained = async (page) =>
    cardOf(page)
      .getByRole("button", { name: `Resume ${who}` })
      .waitFor();
  assert.deepEqual(await inEveryMode(browser, state, [["drained", "/fleet", drained]]), []);

  await row.getByRole("button", { name: `Resume ${who}` }).click();
  await page.getByText(`${who} takes checks on again.`).first().waitFor();
  await until("it takes checks on again", async () => (await phase()) === "");
  await row.getByText("drained", { exact: true }).waitFor({ state: "detached" });
  await card.getByText("reporting", { exact: true }).waitFor();
  await drain.waitFor();
  assert.deepEqual(trouble, []);
  await context.close();
  await must("DELETE", `/targets/${target.id}`);
  slow.closeAllConnections();
  slow.close();
});

test("a new region: what to run there, its name judged, and one that is there already", verifyOnly, async () => {
  const { region: name, probers } = await until("a region that lives", live);
  const open = async (page) => {
    await page.getByRole("button", { name: "Add a region" }).click();
    await page.getByLabel("Name of the region").fill("far-away");
    await page.getByText("Waiting for the first prober of far-away").first().waitFor();
  };
  const { context, page, trouble } = await openPage(browser, state, "/fleet");
  await open(page);
  await page.getByText("REGION=far-away", { exact: false }).waitFor();
  const field = page.getByLabel("Name of the region");
  await field.fill("ext-mine");
  await page.getByText("This name is kept", { exact: false }).waitFor();
  assert.equal(await field.getAttribute("aria-invalid"), "true");
  await field.fill(name);
  await page.getByText(`is there: ${probers[0].name}`, { exact: false }).first().waitFor();
  await page.keyboard.press("Escape");
  await page.locator("dialog").waitFor({ state: "detached" });
  assert.deepEqual(trouble, []);
  await context.close();
  assert.deepEqual(await inEveryMode(browser, state, [["add-region", "/fleet", open]]), []);
});

test("dead letters: what lies there, and one is replayed", async () => {
  assert.ok(settings.redisURL, "REDIS_URL is not set: the Redis of the installation");
  const alive = (await until("a region that lives", live)).region;
  const target = await must("POST", "/targets", { url: "http://127.0.0.1:9/dead", interval_s: 300, regions: [alive] });
  const { good, garbage } = await putLetters(target.id, alive);
  await until("both in the API", async () => (await letters()).length === 2);
  const regions = await until("both counted with their region, and none with others", async () => {
    const { regions } = await must("GET", "/fleet");
    const expected = (one) => one.dead_letters === (one.region === alive ? 2 : 0);
    return regions.length > 1 && regions.every(expected) && regions;
  });
  const shown = async (page) => page.getByText("the store refused this row").waitFor();
  assert.deepEqual(await inEveryMode(browser, state, [["dead-letters", "/fleet", shown]]), []);
  const { context, page, trouble } = await openPage(browser, state, "/fleet");
  await shown(page);
  for (const { region, dead_letters } of regions) {
    const card = page.getByRole("region", { name: `Region ${region}`, exact: true });
    await card.getByText(`${dead_letters} dead letters`).waitFor();
    assert.equal(await card.getByRole("link").count(), dead_letters > 0 ? 1 : 0);
  }
  await page
    .getByRole("region", { name: `Region ${alive}`, exact: true })
    .getByRole("link")
    .click();
  await page.waitForURL(/\/fleet#dead-letters$/);
  const row = page.getByRole("row", { name: /nobody can read this entry/ });
  await row.getByText("This version cannot read it").waitFor();
  assert.equal(await row.getByRole("button").count(), 0);
  await page.getByRole("button", { name: `Replay ${good}` }).click();
  await page.getByText("1 dead letter is run again", { exact: false }).first().waitFor();
  await until("replayed by a prober", async () => (await letters()).every((one) => one.id !== good));
  await page.getByText("the store refused this row").waitFor({ state: "detached" });
  assert.deepEqual(
    (await letters()).map((one) => one.id),
    [garbage],
  );
  const again = await must("POST", "/dead-letters:replay", { ids: [good, garbage] });
  assert.deepEqual(again, { asked: 0, gone: 1, unreadable: 1 });
  const why = async (page) => page.getByText("Too many checks of this host at once").waitFor();
  assert.deepEqual(await inEveryMode(browser, state, [["ledger-reasons", "/fleet", why]]), []);
  assert.deepEqual(trouble, []);
  await redis("XDEL", "{pf}:dead", garbage);
  await must("DELETE", `/targets/${target.id}`);
  await context.close();
});

test("more dead letters than one page has are looked through", verifyOnly, async () => {
  const MOST = 100; // of one page
  const { region: name } = await until("a region that lives", live);
  for (let n = 1; n <= MOST + 1; n++) {
    const fields = { region: name, prober: `${name}-1`, deliveries: 4, id: "0-0", reason: `broken ${n}`, "f:x": "?" };
    await redis("XADD", "{pf}:dead", "*", ...Object.entries(fields).flat().map(String));
  }
  const first = async (page) => page.getByText(`The oldest ${MOST} of ${MOST + 1} are shown.`).waitFor();
  const all = async (page) => {
    await first(page);
    await page.getByRole("button", { name: "Show more" }).click();
    await page.getByRole("row", { name: `broken ${MOST + 1}` }).waitFor();
  };
  assert.deepEqual(await inEveryMode(browser, state, [["dead-letters-more", "/fleet", first]]), []);
  const { context, page, trouble } = await openPage(browser, state, "/fleet");
  const rows = page.getByRole("region", { name: "Dead letters" }).locator("tbody tr");
  await first(page);
  assert.equal(await rows.count(), MOST);
  await all(page);
  assert.equal(await rows.count(), MOST + 1);
  assert.match(await rows.last().innerText(), new RegExp(`broken ${MOST + 1}`), "the oldest first");
  assert.equal(await page.getByRole("button", { name: "Show more" }).count(), 0);
  assert.equal(await page.getByText("are shown.", { exact: false }).count(), 0);
  assert.deepEqual(trouble, []);
  await context.close();
  await redis("XTRIM", "{pf}:dead", "MAXLEN", "0");
  await until("none in the API", async () => (await letters()).length === 0);
});

test("by keyboard: a silent region is retired, after what that means was said", async () => {
  const { context, page, trouble } = await openPage(browser, state, "/fleet");
  const card = page.getByRole("region", { name: `Region ${region}`, exact: true });
  await card.getByText("silent").waitFor();
  const retire = card.getByRole("button", { name: "Retire" });
  await retire.focus();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: `Retire ${region}?` }).waitFor();
  await page.getByText("What was measured stays in every log", { exact: false }).waitFor();
  assert.deepEqual(await axeViolations(page), []);
  await shoot(page, "retire-1280-light");
  await page.keyboard.press("Escape");
  await page.locator("dialog").waitFor({ state: "detached" });
  assert.equal((await plan()).state, "active", "nothing was done yet");
  await retire.click();
  const found = await inEveryMode(browser, state, [
    [
      "retire",
      "/fleet",
      async (page) => {
        await page
          .getByRole("region", { name: `Region ${region}`, exact: true })
          .getByRole("button", { name: "Retire" })
          .click();
        await page.getByRole("heading", { name: `Retire ${region}?` }).waitFor();
      },
    ],
  ]);
  assert.deepEqual(found, []);
  await page.getByRole("button", { name: `Retire ${region}` }).click();
  await page.getByText(`${region} is retired. Its history stays.`).first().waitFor();
  await until("retired in the API", async () => ["leaving", "retired"].includes((await plan()).state));
  await retire.waitFor({ state: "detached" });
  assert.deepEqual(trouble, []);
  await context.close();
});

test("a prober that has ended is forgotten, after asking", async () => {
  const { context, page, trouble } = await openPage(browser, state, "/fleet");
  const { name } = await until("the prober of before", prober);
  const forget = page.getByRole("button", { name: `Forget ${name}` });
  await forget.waitFor();
  await forget.click();
  await page.getByText("If it is started again, it comes back.", { exact: false }).waitFor();
  assert.deepEqual(await axeViolations(page), []);
  await shoot(page, "forget-1280-light");
  await page.getByRole("button", { name: "Keep it" }).click();
  await page.locator("dialog").waitFor({ state: "detached" });
  assert.ok(await prober(), "nothing was done yet");
  await forget.click();
  await page
    .locator("dialog")
    .getByRole("button", { name: `Forget ${name}` })
    .click();
  await page.getByText(`${name} is forgotten.`, { exact: false }).first().waitFor();
  await until("gone in the API", async () => (await prober()) === undefined);
  await forget.waitFor({ state: "detached" });
  assert.deepEqual(trouble, []);
  await context.close();
});

test("a new region: what the page says is run, its first prober appears, and checks from there", async () => {
  const { context, page, trouble } = await openPage(browser, state, "/fleet");
  const site = createServer((_, response) => response.end("ok"));
  await new Promise((resolve) => site.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${site.address().port}/`;
  const target = await must("POST", "/targets", { url, ...often }); // without regions of its own
  await page.getByRole("button", { name: "Add a region" }).click();
  await page.getByLabel("Name of the region").fill("far-away");
  await page.getByText("Waiting for the first prober of far-away").first().waitFor();
  let command = await page.locator("dialog .copy-text code").innerText();
  for (const [placeholder, value] of [
    [/(?<=REDIS_URL=)\S+/, settings.redisURL],
    [/(?<=CLICKHOUSE_URL=)'[^']+'/, process.env.CLICKHOUSE_URL],
    [/(?<=SECRET_KEY=)\S+/, process.env.SECRET_KEY],
    [/bin\/prober/, `${process.env.PROGRAMS}/prober`],
  ]) {
    assert.match(command, placeholder);
    command = command.replace(placeholder, () => `'${value}'`);
  }
  const { PATH, PROBER_CANARIES, PROBER_ALLOW_CIDRS } = process.env;
  const prober = spawn("sh", ["-c", command], {
    env: { PATH, PROBER_CANARIES, PROBER_ALLOW_CIDRS, OPS_ADDR: "127.0.0.1:0" },
    stdio: "ignore",
    detached: true, // a group of its own: the shell and what it runs end together
  });
  const ended = once(prober, "exit");
  try {
    await page.getByText("far-away is there: ", { exact: false }).first().waitFor();
    await page.getByRole("button", { name: "Done" }).click();
    await page.getByRole("region", { name: "Region far-away", exact: true }).waitFor();
    const results = `/targets/${target.id}/results?region=far-away`;
    const up = async () => (await must("GET", results)).items.some((one) => one.status === "up");
    await until("a good result from there", up);
  } finally {
    process.kill(-prober.pid, "SIGTERM");
    await ended;
    await must("DELETE", `/targets/${target.id}`);
    site.close();
  }
  assert.deepEqual(trouble, []);
  await context.close();
});
