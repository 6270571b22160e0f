// How pages look beside what every test looks at: on wide screens, and in a theme that was chosen here.
// By itself or after the others: it makes the account when there is none.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
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
  unlessSignedOut,
  until,
  verifyOnly,
} from "./harness.mjs";
import { filled, framed, go, leads, outside } from "./places.mjs";

const run = Date.now().toString(36);
const prose = "We look into why some answers take longer than they should, and tell here what we find. ".repeat(6);
let browser;
let lab;
let state; // the owner's cookies
let target;
let shown; // a status page
let post;
let incident;
let channel;

before(async () => {
  [browser, lab] = await Promise.all([startBrowser(), startLab()]);
  state = await signIn(browser);
  target = await must("POST", "/targets", {
    url: `${lab.url}/status/503?appearance=${run}`,
    name: `Shop ${run}`,
    ...often,
  });
  shown = await must("POST", "/status-pages", {
    slug: `wide-${run}`,
    title: `Acme ${run}`,
    description: prose.slice(0, 300).trim(),
    published: true,
    groups: [{ name: "Shops", components: [{ name: "Shop", rule: "worst", target_ids: [target.id] }] }],
  });
  post = await must("POST", `/status-pages/${shown.id}/posts`, {
    title: "Slow answers",
    text: prose,
    kind: "incident",
    component_ids: [shown.groups[0].components[0].id],
  });
  channel = await must("POST", "/channels", {
    name: `Appearance ${run}`,
    webhook: { url: "http://127.0.0.1:9/appearance", secret: `a signing key ${run}` },
  });
  incident = await until(
    "the incident",
    async () => (await must("GET", `/incidents?target_id=${target.id}`)).items[0],
    { everyMs: 500 },
  );
  await must("POST", `/incidents/${incident.id}/notes`, { text: prose });
});
after(async () => {
  if (shown) await must("DELETE", `/status-pages/${shown.id}`);
  if (channel) await must("DELETE", `/channels/${channel.id}`);
  if (target) await must("DELETE", `/targets/${target.id}`);
  await browser?.close();
  await lab?.close();
});

/** Every page of the dashboard with a frame. */
const paths = () => Object.values(framed({ target, incident, channel, page: shown, post }));

/** Texts whose lines are so long that the next one is hard to find: what is cut, code and tables are none. */
const longLines = (page, most) =>
  page.evaluate((limit) => {
    const block = (node) => {
      let at = node.parentElement;
      while (getComputedStyle(at).display.startsWith("inline")) at = at.parentElement;
      return at;
    };
    const blocks = new Map();
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = texts.nextNode(); node; node = texts.nextNode()) {
      if (!node.data.trim() || node.parentElement.closest(".sr, .away, .cut, code, pre, table, script, style"))
        continue;
      const range = document.createRange();
      range.selectNodeContents(node);
      const of = blocks.get(block(node)) ?? { text: "", lines: new Set() };
      for (const { top, width } of range.getClientRects()) if (width > 0) of.lines.add(Math.round(top / 8));
      if (of.lines.size > 0) of.text += node.data.replace(/\s+/g, " ");
      blocks.set(block(node), of);
    }
    return [...blocks.values()]
      .map(({ text, lines }) => [Math.round(text.length / lines.size), lines.size, text.slice(0, 90)])
      .filter(([length, lines]) => lines > 1 && length > limit)
      .map(([length, , text]) => `${length} characters a line: ${text}`);
  }, most);

test("the list of pages has every address that the dashboard has", async () => {
  const router = await readFile(new URL("../src/app/router.tsx", import.meta.url), "utf8");
  const routes = [...router.matchAll(/^ {2}path: "([^"]+)",$/gm)].map(([, path]) => path);
  const places = [...paths(), ...Object.values(outside()), ...leads].map((path) => path.replace(/[?#].*/, ""));
  const lost = routes.filter((route) => {
    const pattern = new RegExp(`^${route.replaceAll(/\$\w+/g, "\\d[\\d-]*")}$`); // numbers, and months
    return !places.some((path) => pattern.test(path));
  });
  assert.ok(routes.length > 20, `${routes.length} routes were found`);
  assert.deepEqual(lost, []);
});

// Promise: every page opens without overflow, accessibility violation or console error
test("every page: no overflow, no axe violation, nothing on the console", async () => {
  const found = [];
  const { context, page, trouble } = await openPage(browser, state, "/login");
  const look = async (path) => {
    if ((await overflow(page)) > 0) found.push(`${path} overflows by ${await overflow(page)} px`);
    for (const violation of await axeViolations(page, { always: true })) found.push(`${path}: ${violation}`);
    found.push(...trouble.splice(0).map((line) => `${path}: ${line}`));
  };
  await page.locator("h1").waitFor();
  await look("/login");
  for (const path of paths()) {
    await go(page, path);
    await look(path);
  }
  await context.clearCookies();
  for (const path of [`/s/${shown.slug}`, ...Object.values(outside())]) {
    await page.goto(new URL(path, settings.base).href);
    await page.locator("h1").first().waitFor();
    await look(path);
  }
  await context.close();
  assert.deepEqual(found.filter(unlessSignedOut), []);
});

test("on wide screens: no overflow, nothing on the console, lines that can be read", verifyOnly, async () => {
  const found = [];
  const { context, page, trouble } = await openPage(browser, state, "/login");
  const look = async (path) => {
    for (const width of [1920, 2560]) {
      await page.setViewportSize({ width, height: Math.round((width * 9) / 16) });
      const say = (what) => found.push(`${path} at ${width}: ${what}`);
      if ((await overflow(page)) > 0) say(`overflows by ${await overflow(page)} px`);
      for (const line of await longLines(page, 120)) say(line);
      await shoot(page, `wide-${path.replace(/\d.*/, "one").replaceAll("/", "-")}-${width}`);
    }
    found.push(...trouble.splice(0).map((line) => `${path}: ${line}`));
  };
  await page.locator("h1").waitFor();
  for (const path of paths()) {
    await go(page, path);
    await look(path);
  }
  await page.goto(new URL(`/s/${shown.slug}`, settings.base).href);
  await page.locator("#systems .state").first().waitFor();
  await look("/s/public");
  await context.close();
  assert.deepEqual(found, []);
});

/** What the page is drawn in. */
const drawnIn = (page) =>
  page.evaluate(() => {
    const { colorScheme, backgroundColor } = getComputedStyle(document.documentElement);
    const [red, green, blue] = backgroundColor.match(/\d+/g).map(Number);
    return [colorScheme, red + green + blue > 384 ? "light" : "dark"].join();
  });

/** Chooses a theme where the system wants the other one, and gives what is wrong with every page then. */
async function chosen(theme, system) {
  const found = [];
  const { context, page, trouble } = await openPage(browser, state, "/settings/audit", { colorScheme: system });
  await page.getByRole("button", { name: "Menu", exact: true }).click();
  await page.getByRole("menuitemradio", { name: theme, exact: false }).click();
  await page.reload();
  await filled(page);
  for (const path of [...paths(), "/login"]) {
    await go(page, path);
    const is = await drawnIn(page);
    if (is !== `${theme},${theme}`) found.push(`${path}: ${is}`);
    for (const violation of await axeViolations(page)) found.push(`${path} in ${theme}: ${violation}`);
  }
  await page.reload();
  await page.locator("h1").waitFor();
  found.push(...[await drawnIn(page)].filter((is) => is !== `${theme},${theme}`));
  found.push(...trouble);
  await context.close();
  return found;
}

test(
  "a theme that was chosen holds over a reload and on every page, whatever the system wants",
  verifyOnly,
  async () => {
    const found = await Promise.all([chosen("dark", "light"), chosen("light", "dark")]);
    assert.deepEqual(found.flat(), []);
  },
);
