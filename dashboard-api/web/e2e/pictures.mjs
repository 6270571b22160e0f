// Takes the pictures of docs/images of a running installation, best one of
// `make run ARGS="--demo --regions eu-west,us-east,ap-south"` after a quarter of an hour:
//   BASE_URL=… API_KEY=… SETUP_LINK=… node e2e/pictures.mjs [NAME…]
// It makes the owner when there is none, a status page, and a post on it that tells of the incident of the pictures.
import { api, must, settings, signIn, startBrowser } from "./harness.mjs";

const wanted = process.argv.slice(2); // none: all
const wide = { viewport: { width: 1280, height: 800 }, colorScheme: "light" };
const dark = { ...wide, colorScheme: "dark" };
const tall = { ...wide, viewport: { width: 1280, height: 1500 } };
const narrow = { viewport: { width: 390, height: 844 }, colorScheme: "light", deviceScaleFactor: 2 };

const forced = { ...wide, forcedColors: "active" };

const browser = await startBrowser();
await takeSetup();
const storageState = await signIn(browser);
const targets = (await must("GET", "/live/overview")).items;
const failing = targets.find((one) => one.name.includes("payments")) ?? targets[0];
const { items: incidents } = await must("GET", "/incidents?limit=100");
const flapping = targets.find((one) => one.name.includes("flapping"));
const incident = incidents.find((one) => one.target_id === flapping?.id) ?? incidents[0];
const made = await api("POST", "/status-pages", {
  slug: "acme",
  title: "Acme",
  published: true,
  groups: [
    { name: "Shop", components: targets.slice(0, 4).map(componentOf) },
    { name: "Behind it", components: targets.slice(4).map(componentOf) },
  ],
});

const { items: pages } = await must("GET", "/status-pages?limit=1000");
const acme = pages.find((one) => one.slug === "acme");
if (made.status === 201) {
  const shown = acme.groups.flatMap((group) => group.components).find((one) => one.target_ids[0] === flapping?.id);
  const post = await must("POST", `/status-pages/${acme.id}/posts`, {
    title: "The shop answers slowly, or not at all",
    impact: "down",
    component_ids: shown ? [shown.id] : [],
    incident_id: incident.id,
    text: "Some visits **fail**. We look for the cause, and say more within the hour.",
  });
  await must("POST", `/status-pages/${acme.id}/posts/${post.id}/updates`, {
    state: "identified",
    text: "One of three servers answers with errors; it is being replaced.",
  });
}

if ((await must("GET", "/maintenance-windows")).items.length === 0)
  await must("POST", "/maintenance-windows", {
    name: "The database moves",
    target_id: failing.id,
    starts_at: new Date(Date.now() + 3600e3).toISOString().slice(0, 19),
    zone: "UTC",
    duration_s: 5400,
  });

function componentOf({ id, name }) {
  return { name: name.replace("Demo: ", ""), target_ids: [id] };
}

/** The first page of all is there until there is an account. */
async function takeSetup() {
  if (!(await (await fetch(new URL("/api/v1/session", settings.base))).json()).setup_needed) return;
  const context = await browser.newContext(wide);
  const page = await context.newPage();
  await page.goto(process.env.SETUP_LINK);
  await page.getByLabel("Password").waitFor();
  await page.screenshot({ path: fileOf("setup") });
  await context.close();
}

function fileOf(name) {
  return new URL(`../../../docs/images/${name}.png`, import.meta.url).pathname;
}

async function take(name, path, how = wide, act = async () => {}) {
  if (wanted.length > 0 && !wanted.includes(name)) return;
  const context = await browser.newContext({ ...how, storageState });
  const page = await context.newPage();
  await page.goto(new URL(path, settings.base).href);
  await page.locator("[data-link=live], footer").first().waitFor();
  await act(page);
  await page.waitForTimeout(2500); // figures have come
  await page.locator(".skeleton").first().waitFor({ state: "detached" });
  await page.screenshot({ path: fileOf(name) });
  await context.close();
  console.log(name);
}

await take("overview", "/");
await take("overview-dark", "/", dark);
await take("overview-390", "/", narrow);
await take("overview-forced", "/", forced);
await take("target", `/targets/${failing.id}`);
await take("target-390", `/targets/${failing.id}`, narrow);
await take("incidents", "/incidents");
await take("maintenance", "/maintenance");
await take("incident", `/incidents/${incident.id}`, { ...tall, colorScheme: "dark" });
await take("tell", `/incidents/${incident.id}`, wide, async (page) => {
  await page.getByRole("button", { name: "Tell on a status page" }).click();
  await page.getByRole("menuitem", { name: acme.title }).waitFor();
});
await take("told", `/incidents/${incident.id}`, wide, async (page) => {
  const told = page.locator(".timeline [data-kind=told]").first();
  await told.waitFor();
  await told.evaluate((line) => line.scrollIntoView({ block: "center" }));
});
await take("rule", `/targets/${failing.id}/rule`);
await take("fleet", "/fleet", dark);
await take("drain", "/fleet", wide, async (page) => {
  await page
    .getByRole("button", { name: /^Drain / })
    .first()
    .click();
  await page.getByRole("dialog").waitFor();
});
await take("add", "/", wide, async (page) => {
  await page.getByRole("button", { name: "Add target" }).first().click();
  await page.getByRole("dialog").waitFor();
});
await take("editor", `/settings/pages/${acme.id}`);
await take("settings", "/settings");
await take("account", "/settings/account");
await take("status-page", "/s/acme");
await take("status-page-390", "/s/acme", narrow);
await browser.close();
