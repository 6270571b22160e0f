// The past in a real browser: a target and a status page as they were known at an instant, and what
// changed before an incident, of a site of our own that gets other software and then fails.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import {
  api,
  axeViolations,
  drawn,
  inEveryMode,
  must,
  often,
  openPage,
  overflow,
  shoot,
  signIn,
  startBrowser,
  until,
  verifyOnly,
} from "./harness.mjs";

const run = Date.now().toString(36);
let browser;
let state; // the owner's cookies
let site;
let server;
let target;
let page;
let incident;
let good; // instants: when it was up, and when it was known to be down
let bad;

/** A site that its owner can break. */
function startSite() {
  site = { status: 200, software: "nginx" };
  server = createServer((_, response) => {
    response.writeHead(site.status, { server: site.software, "content-type": "text/plain" }).end("ok");
  });
  return new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
}

const known = (at) => must("GET", `/targets/${target.id}/known?at=${encodeURIComponent(at)}`);
const live = async () => (await must("GET", "/live/snapshot")).items.find((item) => item.id === target.id);

before(async () => {
  browser = await startBrowser();
  state = await signIn(browser);
  await startSite();
  target = await must("POST", "/targets", {
    name: `Shop ${run}`,
    url: `http://127.0.0.1:${server.address().port}/`,
    ...often,
  });
  const made = await must("POST", "/status-pages", {
    slug: `past-${run}`,
    title: "Acme status",
    published: true,
    show_incidents: true,
    groups: [{ name: "Web", components: [{ name: "Shop", target_ids: [target.id] }] }],
  });
  page = made.id;
  await until("it is up", async () => (await live())?.state === "up");
  await until("its first checks are recorded", async () => {
    good = new Date().toISOString();
    return (await known(good)).state === "up";
  });
  site = { status: 503, software: "caddy" };
  incident = await until("the incident", async () =>
    (await must("GET", `/incidents?target_id=${target.id}`)).items.find((one) => one.severity === "down"),
  );
  await until("that it is down is recorded", async () => {
    bad = new Date().toISOString();
    const then = await known(bad);
    return then.state === "down" && then.incidents.length > 0;
  });
  site = { status: 200, software: "caddy" };
  await until("it is up again", async () => (await live())?.state === "up");
  await must("POST", `/status-pages/${page}/posts`, { title: "The shop was away", text: "It is back." });
});
after(async () => {
  await browser?.close();
  if (page) await api("DELETE", `/status-pages/${page}`);
  if (target) await api("DELETE", `/targets/${target.id}`);
  server?.closeAllConnections();
  server?.close();
});

test("a target as known at an instant: down then, without what came later, and back to live", async () => {
  const { context, page: tab, trouble } = await openPage(browser, state, `/targets/${target.id}?at=${bad}`);
  await tab.locator(".verdict[data-state=down]").waitFor();
  await tab.getByRole("status").filter({ hasText: "not live" }).waitFor();
  const incidents = tab.getByRole("region", { name: "Incidents known then" });
  assert.match(await incidents.innerText(), /open/i);
  assert.doesNotMatch(await incidents.innerText(), /resolved/i, "that it ended was learned later");
  assert.equal(await tab.locator(".region-list > li").count(), (await known(bad)).region_states.length);
  await tab.goto(new URL(`/targets/${target.id}?at=${good}`, tab.url()).href);
  await tab.locator(".verdict[data-state=up]").waitFor();
  await tab.getByText("None had been found.").waitFor();
  await tab.getByRole("button", { name: "Back to live" }).click();
  await tab.locator("[data-link=live]").first().waitFor();
  assert.equal(new URL(tab.url()).search, "");
  assert.deepEqual(trouble, []);
  await context.close();
});

test("by keyboard: a status page as known at an instant, its post not yet said", async () => {
  const { context, page: tab, trouble } = await openPage(browser, state, `/settings/pages/${page}?at=${bad}`);
  await tab.getByRole("heading", { name: "Acme status: down" }).waitFor();
  await tab.locator(".known-component", { hasText: "Shop" }).getByText("Down", { exact: true }).waitFor();
  const said = tab.getByRole("region", { name: "Said by then" });
  assert.doesNotMatch(await said.innerText(), /The shop was away/);
  await tab.getByLabel(/^As known at/).focus();
  const now = new Date();
  const wall = new Date(now.getTime() - now.getTimezoneOffset() * 60_000).toISOString().slice(0, 19); // of this machine
  await tab.getByLabel(/^As known at/).fill(wall);
  await tab.keyboard.press("Enter");
  await said.getByText("The shop was away").waitFor();
  await tab.getByRole("heading", { name: "Acme status: up" }).waitFor();
  assert.equal(new URL(tab.url()).searchParams.get("at"), `${now.toISOString().slice(0, 19)}Z`);
  assert.deepEqual(trouble, []);
  await context.close();
});

test("what changed: each region, the good check and the bad one, and the software that was replaced", async () => {
  const { context, page: tab, trouble } = await openPage(browser, state, `/incidents/${incident.id}`);
  const card = tab.getByRole("region", { name: "What changed" });
  await card.locator("[data-region]").first().waitFor();
  const told = await must("GET", `/incidents/${incident.id}/changes`);
  assert.equal(await card.locator("[data-region]").count(), told.regions.length);
  assert.ok(told.regions.length > 0 && told.regions.every((one) => one.good && one.differences.length > 0));
  for (const region of await card.locator("[data-region]").all()) {
    const text = await region.innerText();
    assert.match(text, /200/);
    assert.match(text, /503/);
    assert.match(text, /nginx/);
    assert.match(text, /caddy/);
  }
  await tab.setViewportSize({ width: 390, height: 844 });
  await drawn(tab);
  assert.equal(await overflow(tab), 0);
  assert.deepEqual(await axeViolations(tab), []);
  await card.scrollIntoViewIfNeeded();
  await shoot(tab, "past-changes-card-390-light");
  assert.deepEqual(trouble, []);
  await context.close();
});

test("in every mode: no overflow, no axe violation, nothing on the console", verifyOnly, async () => {
  const found = await inEveryMode(browser, state, [
    ["past-target", `/targets/${target.id}?at=${bad}`, (tab) => tab.locator(".verdict[data-state=down]").waitFor()],
    [
      "past-target-early",
      `/targets/${target.id}?at=${good}`,
      (tab) => tab.locator(".verdict[data-state=up]").waitFor(),
    ],
    [
      "past-page",
      `/settings/pages/${page}?at=${bad}`,
      (tab) => tab.getByRole("heading", { name: "Acme status: down" }).waitFor(),
    ],
    [
      "past-unreadable",
      `/targets/${target.id}?at=yesterday`,
      async (tab) => {
        await tab.getByText("cannot be read: not live.", { exact: false }).first().waitFor();
        assert.equal(await tab.locator("[data-problem], .skeleton").count(), 0, "that says it, and nothing else comes");
      },
    ],
    ["past-changes", `/incidents/${incident.id}`, (tab) => tab.locator("[data-region]").first().waitFor()],
  ]);
  assert.deepEqual(found, []);
});
