// Takes the pictures of docs/images of a running installation, best one of
// `make run ARGS="--demo --regions eu-west,us-east,ap-south"` after a quarter of an hour:
//   BASE_URL=… API_KEY=… SETUP_LINK=… node e2e/pictures.mjs [NAME…]
// It makes the owner when there is none, a status page, and a post on it that tells of the incident of the pictures.
// With the name `prepare`, at the beginning of the quarter, it makes what needs it: who is told, what is maintained or
// paused. Messages are delivered to the demo's own targets: start it with API_ALLOW_CIDRS=127.0.0.0/8.
import { mkdir, writeFile } from "node:fs/promises";
import { invited, modes, must, quiet, settings, signIn, startBrowser } from "./harness.mjs";
import { asAtFirst, framed, outside } from "./places.mjs";

const wanted = process.argv.slice(2); // none: all
const wide = { viewport: { width: 1280, height: 800 }, colorScheme: "light" };
const dark = { ...wide, colorScheme: "dark" };
const tall = { ...wide, viewport: { width: 1280, height: 1500 } };

const browser = await startBrowser();
const storageState = await signIn(browser);
const targets = (await must("GET", "/live/overview")).items;
const named = (part) => targets.find((one) => one.name.includes(part));
const failing = named("payments") ?? targets[0];
const flapping = named("flapping");
await prepare();
if (wanted.includes("prepare")) {
  await browser.close();
  process.exit();
}
const acme = (await must("GET", "/status-pages?limit=1000")).items.find((one) => one.slug === "acme");
const [channel] = (await must("GET", "/channels?limit=1000")).items;
const post = await told();
const incident = await must("GET", `/incidents/${post.incident_id}`);

/** Makes what is not there yet. */
async function prepare() {
  const none = async (path) => (await must("GET", path)).items.length === 0;
  if (await none("/channels")) {
    const { url } = await must("GET", `/targets/${failing.id}`);
    const hook = { url: new URL("/status/200", url).href, secret: "a signing key of the demo" };
    const { id } = await must("POST", "/channels", { name: "Operations", webhook: hook });
    const rule = { name: "Whoever is on duty", channel_ids: [id], send_resolved: true };
    await must("POST", "/notification-rules", { ...rule, escalations: [{ after_minutes: 15, channel_ids: [id] }] });
  }
  if (await none("/maintenance-windows")) {
    const at = (ms) => new Date(Date.now() + ms).toISOString().slice(0, 19);
    const moves = { name: "The database moves", target_id: failing.id, starts_at: at(3600e3), zone: "UTC" };
    await must("POST", "/maintenance-windows", { ...moves, duration_s: 5400 });
    const blog = named("blog");
    const now = { name: "The blog gets a new theme", target_id: blog?.id, starts_at: at(-60e3), zone: "UTC" };
    if (blog) await must("POST", "/maintenance-windows", { ...now, duration_s: 7200 });
  }
  const report = named("report");
  if (report) await must("PATCH", `/targets/${report.id}`, { active: false });
  const groups = [
    { name: "Shop", components: targets.slice(0, 4).map(componentOf) },
    { name: "Behind it", components: targets.slice(4).map(componentOf) },
  ];
  const slugs = (await must("GET", "/status-pages?limit=1000")).items.map((one) => one.slug);
  if (!slugs.includes("acme"))
    await must("POST", "/status-pages", {
      ...{ slug: "acme", title: "Acme", published: true, groups },
      ...{ description: "How the shop is, measured from three regions.", subscribe_webhook: true },
    });
  if (!slugs.includes("partners"))
    await must("POST", "/status-pages", {
      ...{ slug: "partners", title: "For partners", published: true, groups: groups.slice(1) },
      password: settings.password,
    });
  const people = (await must("GET", "/users?limit=1000")).items;
  if (people.length === 1) {
    await invited(browser, "ann@example.com", "Ann");
    await must("POST", "/invitations", { role: "viewer", email: "bob@example.com" });
  }
}

/** The post on the page that tells of an incident; it is made when there is none. */
async function told() {
  const [there] = (await must("GET", `/status-pages/${acme.id}/posts`)).items;
  if (there) return there;
  const { items: incidents } = await must("GET", "/incidents?limit=100");
  const incident = incidents.find((one) => one.target_id === flapping?.id) ?? incidents[0];
  const shown = acme.groups.flatMap((group) => group.components).find((one) => one.target_ids[0] === flapping?.id);
  const made = await must("POST", `/status-pages/${acme.id}/posts`, {
    title: "The shop answers slowly, or not at all",
    impact: "down",
    component_ids: shown ? [shown.id] : [],
    incident_id: incident.id,
    text: "Some visits **fail**. We look for the cause, and say more within the hour.",
  });
  await must("POST", `/status-pages/${acme.id}/posts/${made.id}/updates`, {
    state: "identified",
    text: "One of three servers answers with errors; it is being replaced.",
  });
  return made;
}

function componentOf({ id, name }) {
  return { name: name.replace("Demo: ", ""), target_ids: [id] };
}

function fileOf(name, kind = "png") {
  return new URL(`../../../docs/images/${name}.${kind}`, import.meta.url).pathname;
}

async function take(name, path, how = wide, act = async () => {}) {
  if (wanted.length > 0 && !wanted.includes(name)) return;
  const context = await browser.newContext({ ...how, storageState });
  const page = await context.newPage();
  await page.goto(new URL(path, settings.base).href);
  await page.locator("[data-link=live], footer").first().waitFor();
  await act(page);
  await settled(page);
  await page.screenshot({ path: fileOf(name) });
  await context.close();
  console.log(name);
}

/** Until a page shows what it has. */
async function settled(page) {
  await page.locator("h1").first().waitFor();
  await page.waitForFunction(() => !document.querySelector(".skeleton"));
  await quiet(page);
}

const gap = 12;
const width = 720; // of a wide page in the picture of its modes
const height = Math.round((width * modes[0].viewport.height) / modes[0].viewport.width);
const narrow = Math.round((height * 390) / 844);

/** A page in every mode, as one picture: wide ones, and the first screens of the narrow one beside each other. */
async function takeModes(name, path, act = async () => {}, signedIn = true) {
  if (wanted.length > 0 && !wanted.includes(`modes/${name}`) && !wanted.includes("modes")) return;
  const figures = [];
  for (const { name: mode, ...how } of modes) {
    const context = await browser.newContext({ ...how, ...(signedIn ? { storageState } : {}) });
    const page = await context.newPage();
    await page.goto(new URL(path, settings.base).href);
    if (signedIn && !path.includes("?at=")) await page.locator("[data-link=live]").first().waitFor();
    await act(page);
    await settled(page);
    // A dialog lies before the first screen alone, and a last strip of nothing is not worth a screen.
    const fullPage = how.viewport.width < 500 && (await page.locator("dialog[open]").count()) === 0;
    const picture = (await page.screenshot({ fullPage, animations: "disabled" })).toString("base64");
    const tall = await page.evaluate(() => document.documentElement.scrollHeight);
    const screens = fullPage ? Math.min(3, Math.ceil((tall - 150) / how.viewport.height)) : 1;
    figures.push({ mode, picture, screens: how.viewport.width < 500 ? screens : 0 });
    await context.close();
  }
  await writeFile(fileOf(`modes/${name}`, "webp"), await together(figures));
  console.log(`modes/${name}`);
}

/** Pictures with their names, in two columns. */
async function together(figures) {
  const screen = (picture, i) =>
    `<i style="width:${narrow}px;background:url(data:image/png;base64,${picture}) 0 ${-i * height}px/${narrow}px auto no-repeat"></i>`;
  const figure = ({ mode, picture, screens }) => {
    const inside = screens
      ? Array.from({ length: screens }, (_, i) => screen(picture, i)).join("")
      : `<img src="data:image/png;base64,${picture}" width="${width}" height="${height}">`;
    return `<figure><figcaption>${mode.replace("-", " ")}</figcaption><div>${inside}</div></figure>`;
  };
  const style = `body{margin:0;padding:${gap}px;display:grid;grid-template-columns:${width}px ${width}px;gap:${gap}px;background:#c3c9d2;color:#14181f;font:13px/18px sans-serif}
    figure{margin:0}div{display:flex;gap:${gap}px;height:${height}px;margin-top:4px}i{height:${height}px}`;
  const whole = { width: 2 * width + 3 * gap, height: 2 * (height + 22) + 3 * gap };
  const context = await browser.newContext({ viewport: whole });
  const page = await context.newPage();
  await page.setContent(`<style>${style}</style>${figures.map(figure).join("")}`);
  await page.evaluate(() => Promise.all([...document.images].map((image) => image.decode())));
  const devtools = await context.newCDPSession(page);
  const { data } = await devtools.send("Page.captureScreenshot", { format: "webp", quality: 60 });
  await context.close();
  return Buffer.from(data, "base64");
}

await take("overview", "/");
await take("target", `/targets/${failing.id}`);
await take("incidents", "/incidents");
await take("maintenance", "/maintenance");
await take("incident", `/incidents/${incident.id}`, { ...tall, colorScheme: "dark" });
await take("tell", `/incidents/${incident.id}`, wide, async (page) => {
  await page.getByRole("button", { name: "Tell on a status page" }).click();
  await page.getByRole("menuitem", { name: acme.title }).waitFor();
});
await take("told", `/incidents/${incident.id}`, wide, async (page) => {
  const line = page.locator(".timeline [data-kind=told]").first();
  await line.waitFor();
  await line.evaluate((one) => one.scrollIntoView({ block: "center" }));
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

await mkdir(new URL("../../../docs/images/modes/", import.meta.url), { recursive: true });
for (const [name, path] of Object.entries(framed({ target: failing, incident, channel, page: acme, post })))
  await takeModes(name, path);
await takeModes("add", "/", async (page) => {
  await page.getByRole("button", { name: "Add target" }).first().click();
  await page.getByRole("dialog").waitFor();
});
await takeModes("edit", `/targets/${failing.id}`, async (page) => {
  await page.getByRole("button", { name: "Edit", exact: true }).click();
  await page.getByRole("dialog").waitFor();
});
await takeModes("setup-targets", "/", async (page) => {
  await asAtFirst(page);
  await page.goto(new URL("/setup", settings.base).href);
  await page.getByLabel("URLs").waitFor();
});
const { id, link } = await must("POST", "/invitations", { role: "editor" });
const readers = {
  "status-page": "/s/acme",
  "status-page-subscribe": "/s/acme/subscribe",
  "status-page-password": "/s/partners",
};
for (const [name, path] of Object.entries({ ...outside(link.split("token=")[1]), ...readers }))
  await takeModes(name, path, undefined, false);
await must("DELETE", `/invitations/${id}`);
await browser.close();
