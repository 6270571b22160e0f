// What lists say when there is nothing to list, when nothing matches, and when what they ask for is refused: in
// words, with a way on, in every mode. By itself or after the others: it makes the account when there is none.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { asItIs, must, openPage, settings, signIn, startBrowser, startLab, until, verifyOnly } from "./harness.mjs";

const run = Date.now().toString(36);
let browser;
let lab;
let state; // the owner's cookies
let target;

before(async () => {
  [browser, lab] = await Promise.all([startBrowser(), startLab()]);
  state = await signIn(browser);
  target = await must("POST", "/targets", { url: `${lab.url}/n/lists-${run}`, name: `Lists ${run}`, active: false });
});
after(async () => {
  if (target) await must("DELETE", `/targets/${target.id}`);
  await browser?.close();
  await lab?.close();
});

const refusal = { title: "Too many questions", detail: "Wait a little.", request_id: `lists-${run}` };
const nothing = { items: [], next_cursor: null };

const button = (name) => (page) => page.locator(".empty, .teach").getByRole("button", { name, exact: true });
const link = (name) => (page) => page.locator(".empty").getByRole("link", { name, exact: true });
const opens = (page) => page.locator("dialog[open]").waitFor();

/** The live feed greets, and tells nothing of the targets there are. */
const silent = (page) =>
  page.routeWebSocket(/\/api\/v1\/live$/, (socket) =>
    socket.send(JSON.stringify({ t: "welcome", epoch: "silent", server_time: new Date().toISOString() })),
  );

/**
 * Each list: where it is, what it asks for, what is answered when there is nothing, what it says then (by steps, each
 * left by its way on), and where the last way leads.
 */
const lists = [
  {
    name: "overview",
    path: "/",
    before: silent,
    asks: /\/api\/v1\/live\/(overview|snapshot)/,
    empty: (answer) => ({
      ...answer,
      items: [],
      ...("counts" in answer && {
        total: 0,
        counts: Object.fromEntries(Object.keys(answer.counts).map((word) => [word, 0])),
      }),
    }),
    steps: [["Watch your first URL", button("Add target")]],
    leads: opens,
  },
  {
    name: "incidents",
    path: () => `/incidents?state=open&target=${target.id}`,
    asks: /\/api\/v1\/incidents\?/,
    steps: [
      ["This target has no such incident.", button("Clear the filters")],
      ["Nothing was resolved yet.", link("notification rules")],
    ],
    leads: (page) => page.waitForURL("**/settings/rules"),
  },
  {
    name: "maintenance",
    path: "/maintenance",
    asks: /\/api\/v1\/maintenance-windows\?/,
    steps: [["Nothing is planned", button("Plan maintenance")]],
    leads: opens,
  },
  {
    name: "status-pages",
    path: "/settings/pages",
    asks: /\/api\/v1\/status-pages\?/,
    steps: [["There is no status page yet", button("Add status page")]],
    leads: opens,
  },
  {
    name: "channels",
    path: "/settings/channels",
    asks: /\/api\/v1\/channels\?/,
    steps: [["Nobody can be told yet", button("Add channel")]],
    leads: opens,
  },
  {
    name: "rules",
    path: "/settings/rules",
    asks: /\/api\/v1\/(notification-rules|channels)\?/,
    steps: [["Nobody is told of incidents", link("Add a channel first")]],
    leads: (page) => page.waitForURL("**/settings/channels"),
  },
  {
    name: "keys",
    path: "/settings/keys",
    asks: /\/api\/v1\/keys\?/,
    steps: [["No program has a key yet", button("Make a key")]],
    leads: opens,
  },
  {
    name: "people",
    path: "/settings/people",
    asks: /\/api\/v1\/users\?/,
    empty: ({ items }) => ({ ...nothing, items: items.filter(({ email }) => email === settings.email) }),
    steps: [["You are alone here.", (page) => page.getByRole("button", { name: "Invite somebody" })]],
    leads: opens,
  },
  {
    name: "audit",
    path: "/settings/audit?action=rule.delete",
    asks: /\/api\/v1\/audit\?/,
    steps: [
      ["Nothing matches", button("Clear the filters")],
      ["Nothing was changed yet", null],
    ],
  },
];

/** Looks at a list with a refusal, then with nothing in it. */
async function walk({ name, path, before: prepare, asks, empty = () => nothing, steps, leads }) {
  const { context, page, trouble } = await openPage(browser, state, "/login");
  await prepare?.(page);
  let refused = true;
  await page.route(asks, async (route) => {
    if (route.request().method() !== "GET") return route.fallback();
    if (refused)
      return route.fulfill({
        status: 429,
        contentType: "application/problem+json",
        body: JSON.stringify({ type: "about:blank", status: 429, ...refusal }),
      });
    const response = await route.fetch();
    return route.fulfill({ json: empty(await response.json()) });
  });
  await page.goto(new URL(typeof path === "string" ? path : path(), settings.base).href);
  const alert = page.getByRole("main").locator("[data-problem]").first();
  await alert.getByRole("heading", { name: refusal.title }).waitFor();
  assert.match(await alert.innerText(), new RegExp(`${refusal.detail}\\s+Request ${refusal.request_id}\\s+Try again`));
  const found = await asItIs(page, `list-${name}-refused`);

  refused = false;
  const asked = await alert.getByRole("button", { name: "Try again" }).evaluate(async (way, what) => {
    const real = window.fetch;
    let asked = false;
    window.fetch = (...all) => {
      asked ||= new RegExp(what).test(all[0].url ?? all[0]);
      return real(...all);
    };
    way.click();
    await new Promise((resolve) => setTimeout(resolve)); // at once, whatever else would ask again later
    window.fetch = real;
    return asked;
  }, asks.source);
  assert.ok(asked, `${name}: trying again asks at once`);
  for (const [i, [says, way]] of steps.entries()) {
    await page.getByRole("main").getByText(says, { exact: false }).waitFor();
    await alert.waitFor({ state: "detached" });
    found.push(...(await asItIs(page, `list-${name}-${i}`)));
    await way?.(page).click();
  }
  await leads?.(page);
  found.push(...trouble.filter((line) => !/status of 429/.test(line)).map((line) => `${name}: ${line}`));
  await context.close();
  return found;
}

test("refused, filtered to nothing and empty: each list says which, and has a way on", verifyOnly, async () => {
  const left = [...lists];
  const lane = async () => {
    const found = [];
    for (let list = left.shift(); list; list = left.shift()) found.push(...(await walk(list)));
    return found;
  };
  assert.deepEqual((await Promise.all([lane(), lane()])).flat(), []);
});

test(
  "of many cards that fail for one reason it is heard once, from the one voice of the page",
  verifyOnly,
  async () => {
    const { context, page, trouble } = await openPage(browser, state, "/settings");
    await page.getByRole("heading", { name: "Appearance" }).waitFor();
    await page.evaluate(() => {
      window.heard = [];
      const voice = document.querySelector(".said");
      new MutationObserver(() => voice.textContent && window.heard.push(voice.textContent)).observe(voice, {
        childList: true,
      });
    });
    await page.route(/\/api\/v1\/(targets\/\d+\/|incidents\?)/, (route) =>
      route.fulfill({
        status: 429,
        contentType: "application/problem+json",
        body: JSON.stringify({ type: "about:blank", status: 429, ...refusal }),
      }),
    );
    await page.evaluate((to) => history.pushState(null, "", to), `/targets/${target.id}`);
    const failed = page.locator("[data-problem]");
    await until("several cards to have failed", async () => (await failed.count()) >= 3);
    await until("it to be heard", () => page.evaluate(() => window.heard.length > 0));
    const said = await page.evaluate(() => window.heard.join(" "));
    assert.equal(said.split(refusal.title).length - 1, 1, said);
    assert.equal(await page.locator("[role=alert]").count(), 0, "nothing else is announced");
    assert.deepEqual(
      trouble.filter((line) => !/status of 429/.test(line)),
      [],
    );
    await context.close();
  },
);
