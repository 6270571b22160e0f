// States for who sees no colours, in a real browser: each has a shape that no other one has, and a word.
// By itself or after the others: it makes the account when there is none.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { must, often, openPage, shoot, signIn, startBrowser, until } from "./harness.mjs";

const run = Date.now().toString(36);
const words = {
  up: "Up",
  degraded: "Degraded",
  down: "Down",
  maintenance: "Maintenance",
  no_data: "No data",
  paused: "Paused",
};
const published = {
  up: "Operational",
  degraded: "Degraded",
  down: "Down",
  maintenance: "Maintenance",
  no_data: "No data",
};
const states = Object.keys(words);
/** Two shapes are told apart when they differ by so much of what both cover together. */
const enough = 0.2;
const made = []; // to be removed again, the last first
const targets = {};
let browser;
let state; // the signed-in browser's cookies
let site;
let judge; // a page of nothing, which looks at pictures
let shown; // a status page

/** Answers as the paths say; /no_data leads to where no prober may follow. */
function startSite() {
  const server = createServer((request, response) => {
    if (request.url === "/no_data") return response.writeHead(302, { location: "http://10.0.0.1/" }).end();
    response.writeHead(request.url === "/down" ? 503 : 200, { "content-type": "text/plain" }).end("ok");
  });
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server)));
}

before(async () => {
  [browser, site] = await Promise.all([startBrowser(), startSite()]);
  state = await signIn(browser);
  judge = await (await browser.newContext()).newPage();
  for (const name of states) {
    targets[name] = await must("POST", "/targets", {
      url: `http://127.0.0.1:${site.address().port}/${name}`,
      name: `Grey ${name} ${run}`,
      ...often,
      active: name !== "paused",
      assertions:
        name === "degraded" ? [{ source: "body", op: "contains", value: "All is well", severity: "degrade" }] : [],
    });
    made.push(`/targets/${targets[name].id}`);
  }
  const window = await must("POST", "/maintenance-windows", {
    name: `Grey ${run}`,
    target_id: targets.maintenance.id,
    starts_at: new Date(Date.now() - 60_000).toISOString().slice(0, 19),
    duration_s: 3600,
  });
  made.push(`/maintenance-windows/${window.id}`);
  const components = Object.keys(published).map((name) => ({ name, rule: "worst", target_ids: [targets[name].id] }));
  shown = await must("POST", "/status-pages", {
    slug: `grey-${run}`,
    title: `Grey ${run}`,
    published: true,
    groups: [{ name: "All", components }],
  });
  made.push(`/status-pages/${shown.id}`);
});
after(async () => {
  for (const path of made.reverse()) await must("DELETE", path);
  await browser?.close();
  site?.closeAllConnections();
  site?.close();
});

/** A page as somebody sees it who sees no colours. */
async function withoutColours(context, page) {
  const devtools = await context.newCDPSession(page);
  await devtools.send("Emulation.setEmulatedVisionDeficiency", { type: "achromatopsia" });
}

/** Pictures of marks, by their states: each is drawn at the same size, as one bit a point. */
async function shapes(pictures, [width, height]) {
  const encoded = Object.entries(pictures).map(([name, picture]) => [name, picture.toString("base64")]);
  const look = async ([all, w, h]) => {
    const found = {};
    for (const [name, base64] of all) {
      const image = new Image();
      image.src = `data:image/png;base64,${base64}`;
      await image.decode();
      const context = new OffscreenCanvas(w, h).getContext("2d");
      context.drawImage(image, 0, 0, w, h);
      const { data } = context.getImageData(0, 0, w, h);
      const points = Array.from({ length: w * h }, (_, i) => [...data.subarray(4 * i, 4 * i + 3)]);
      const ground = points[0][0]; // nothing is drawn in a corner
      const far = points.map(([red]) => Math.abs(red - ground));
      const most = Math.max(...far);
      found[name] = {
        drawn: far.map((one) => one > most / 2),
        colour: Math.max(...points.map((one) => Math.max(...one) - Math.min(...one))),
        contrast: most,
      };
    }
    return found;
  };
  return judge.evaluate(look, [encoded, width, height]);
}

/** Which states are drawn so alike that nobody tells them apart, and what is not grey, or hardly there. */
function alike(found, what) {
  const wrong = [];
  const all = Object.entries(found);
  let least = [1, ""];
  for (const [i, [name, { drawn, colour, contrast }]] of all.entries()) {
    if (colour > 4) wrong.push(`${what} ${name} has colours: ${colour}`);
    if (contrast < 40) wrong.push(`${what} ${name} can hardly be seen: ${contrast}`);
    for (const [other, { drawn: theirs }] of all.slice(i + 1)) {
      const both = drawn.filter((one, at) => one || theirs[at]).length;
      const differ = drawn.filter((one, at) => one !== theirs[at]).length / both;
      if (differ < least[0]) least = [differ, `${name} and ${other}`];
      if (differ < enough) wrong.push(`${what}: ${name} and ${other} differ by ${differ.toFixed(2)}`);
    }
  }
  console.log(`${what}: ${least[1]} differ least, by ${least[0].toFixed(2)}`);
  return wrong;
}

const row = (page, name) => page.locator(`li:has([data-row="${targets[name].id}"])`);

/** What is at the right end of the bar of a row: its newest check. */
async function newest(page, name) {
  const box = await row(page, name).locator("svg.ticks").boundingBox();
  const width = box.width / 90;
  return { x: box.x + box.width - width, y: box.y, width, height: box.height };
}

async function each(names, picture) {
  const found = {};
  for (const name of names) found[name] = await picture(name);
  return found;
}

const still = { animations: "disabled" };

/** A picture of a part of a page that may be replaced by a newer one meanwhile. */
const pictureOf = (part) =>
  until("a picture", () =>
    part.screenshot(still).catch((error) => {
      if (!/not attached/.test(error.message)) throw error;
    }),
  );

/** The icons of the rows, and the newest ticks of their bars: what is paused has none. */
const marks = async (page) => [
  await shapes(await each(states, (name) => row(page, name).locator("> .state-icon").screenshot(still)), [88, 88]),
  await shapes(
    await each(
      states.filter((name) => name !== "paused"),
      async (name) => page.screenshot({ ...still, clip: await newest(page, name) }),
    ),
    [12, 112],
  ),
];

for (const colorScheme of ["light", "dark"])
  test(
    `the overview in greys, ${colorScheme}: each state has a shape of its own, and its word`,
    verifyOnly,
    async () => {
      const { context, page, trouble } = await openPage(browser, state, `/?q=${run}`, {
        colorScheme,
        deviceScaleFactor: 4,
        reducedMotion: "reduce",
      });
      for (const [name, word] of Object.entries(words)) {
        const said = row(page, name).locator(".word");
        await until(`${name} to be said`, async () => (await said.innerText()) === word);
        if (name !== "paused") await row(page, name).locator("svg.ticks:not([data-count='0'])").waitFor();
      }
      const coloured = await shapes({ up: await row(page, "up").locator("> .state-icon").screenshot(still) }, [88, 88]);
      assert.ok(coloured.up.colour > 60, "there are colours, before they are taken away");
      await withoutColours(context, page);
      await shoot(page, `grey-overview-${colorScheme}`);
      const [icons, ticks] = await marks(page);
      assert.deepEqual([...alike(icons, "icon"), ...alike(ticks, "tick")], []);

      // Beside its picture every mark is words: of the tiles that filter, of bars, and of the marks of regions.
      for (const [name, word] of Object.entries(words)) {
        assert.match(await page.locator(`.tile.s-${name}`).innerText(), new RegExp(word, "i"));
        const bar = await row(page, name).locator("svg.ticks").getAttribute("aria-label");
        const of = {
          up: "up",
          degraded: "degraded",
          down: "down",
          maintenance: "in maintenance",
          no_data: "without data",
        };
        assert.match(bar, name === "paused" ? /No checks yet/ : new RegExp(`\\d ${of[name]}`), name);
        for (const region of await row(page, name).locator(".dots li .sr").allInnerTexts())
          assert.match(region, /: (Up|Degraded|Down|Maintenance|No data)$/);
      }

      // That two shapes are alike would be found. What is seeded stands in a copy: React goes on in the
      // page it knows, and must find every node of it that it wants to take away.
      await page.evaluate(() => document.body.replaceWith(document.body.cloneNode(true)));
      await row(page, "down")
        .locator("> .state-icon")
        .evaluate((icon, from) => {
          icon.innerHTML = document.querySelector(`li:has([data-row="${from}"]) > .state-icon`).innerHTML;
        }, targets.up.id);
      await row(page, "degraded")
        .locator("svg.ticks")
        .evaluate((bar, from) => {
          bar.innerHTML = document.querySelector(`li:has([data-row="${from}"]) svg.ticks`).innerHTML;
        }, targets.up.id);
      const [seededIcons, seededTicks] = await marks(page);
      assert.match(alike(seededIcons, "seeded icon").join(), /^seeded icon: up and down differ by \S+$/);
      assert.match(alike(seededTicks, "seeded tick").join(), /^seeded tick: up and degraded differ by \S+$/);
      assert.deepEqual(trouble, []);
      await context.close();
    },
  );

for (const colorScheme of ["light", "dark"])
  test(
    `a status page in greys, ${colorScheme}: each state has a shape of its own, and its word`,
    verifyOnly,
    async () => {
      const { context, page, trouble } = await openPage(browser, undefined, `/s/${shown.slug}`, {
        colorScheme,
        deviceScaleFactor: 4,
        reducedMotion: "reduce",
      });
      const [{ components }] = shown.groups;
      const of = (name) => page.locator(`#c${components.find((one) => one.name === name).id} .state`);
      for (const [name, word] of Object.entries(published))
        await until(`${name} to be said`, async () => (await of(name).locator("b").innerText()) === word);
      await withoutColours(context, page);
      await shoot(page, `grey-public-${colorScheme}`, true);
      const names = Object.keys(published);
      const icons = await each(names, (name) => pictureOf(of(name).locator("svg")));
      const ticks = await each(names, (name) =>
        pictureOf(page.locator(".legend span", { hasText: published[name] }).locator("svg")),
      );
      assert.deepEqual(
        [...alike(await shapes(icons, [88, 88]), "icon"), ...alike(await shapes(ticks, [28, 136]), "tick")],
        [],
      );
      assert.deepEqual(trouble, []);
      await context.close();
    },
  );
