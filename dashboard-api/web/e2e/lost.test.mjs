// What people entered, began or chose is not lost, or done to something else, without a word.
// By itself or after the others: it makes the account when there is none.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  api,
  axeViolations,
  inEveryMode,
  must,
  openPage,
  settings,
  shoot,
  signIn,
  startBrowser,
  startLab,
  targetByUrl,
  unlessSignedOut,
  until,
  verifyOnly,
} from "./harness.mjs";

const run = Date.now().toString(36);
let browser;
let lab;
let state; // the signed-in browser's cookies
const targets = {};

before(async () => {
  [browser, lab] = await Promise.all([startBrowser(), startLab()]);
  state = await signIn(browser);
  for (const name of ["Ant", "Bee", "Cat", "Dog"])
    targets[name] = await must("POST", "/targets", {
      url: `${lab.url}/lost/${name}-${run}`,
      name: `${name} ${run}`,
      interval_s: 60,
      active: false,
    });
});
after(async () => {
  for (const one of (await must("GET", `/targets?search=${run}`)).items) await must("DELETE", `/targets/${one.id}`);
  await browser?.close();
  await lab?.close();
});

const question = (page, name = "Discard what you entered?") => page.getByRole("dialog", { name, exact: true });
const gone = (locator) => locator.waitFor({ state: "detached" });
const focused = (page, name) => page.getByRole("button", { name, exact: true }).and(page.locator(":focus")).waitFor();

/** Holds what is asked of a path, but the first so many; gives what lets it go. */
async function holdAfter(page, path, method, free) {
  let asked = 0;
  let release;
  const held = new Promise((resolve) => {
    release = resolve;
  });
  await page.route(path, async (route) => {
    if (route.request().method() !== method) return route.continue();
    if (++asked > free) await held;
    return route.continue();
  });
  return { release, asked: () => asked };
}

test("by keyboard: a dialog in which something was entered asks first, one without does not", async () => {
  const { context, page, trouble } = await openPage(browser, state, "/");
  const form = page.getByRole("dialog", { name: "Add target", exact: true });
  await page.locator("[data-row]").first().waitFor();
  await page.keyboard.press("c");
  await page.locator("input[name=url]:focus").waitFor();
  await page.keyboard.press("Escape");
  await gone(form);

  await page.keyboard.press("c");
  await page.locator("input[name=url]:focus").waitFor();
  await page.keyboard.type("example.com/lost");
  await page.keyboard.press("Escape");
  await focused(page, "Keep editing");
  assert.deepEqual(await axeViolations(page), []);
  await page.keyboard.press("Escape");
  await gone(question(page));
  await page.locator("input[name=url]:focus").waitFor();
  assert.equal(await page.locator("input[name=url]").inputValue(), "example.com/lost");

  // Where nothing in the dialog has the focus, the browser closes it: at the second time without asking.
  await form.getByRole("heading", { level: 2 }).click();
  for (let i = 0; i < 3; i++) {
    await page.keyboard.press("Escape");
    await focused(page, "Keep editing");
    await page.keyboard.press("Enter");
    await gone(question(page));
  }
  assert.equal(await page.locator("input[name=url]").inputValue(), "example.com/lost");

  await form.getByRole("button", { name: "Close", exact: true }).click();
  await question(page).getByRole("button", { name: "Keep editing" }).click();
  await form.getByRole("button", { name: "Cancel" }).click();
  await question(page).getByRole("button", { name: "Discard" }).click();
  await gone(page.locator("dialog"));
  await page.getByRole("button", { name: "Add target" }).click();
  await page.locator("input[name=url]:focus").waitFor();
  await page.keyboard.press("Escape");
  await gone(form);
  await focused(page, "Add target"); // where it was
  assert.deepEqual(trouble, []);
  await context.close();
});

test("so do those of channels, rules and maintenance", verifyOnly, async () => {
  const channel = await must("POST", "/channels", {
    name: `Lost ${run}`,
    webhook: { url: "http://127.0.0.1:9/lost", secret: `a signing key ${run}` },
  });
  const { context, page, trouble } = await openPage(browser, state, "/");
  for (const [path, button] of [
    ["/settings/channels", "Add channel"],
    ["/settings/rules", "Add rule"],
    ["/maintenance", "Plan maintenance"],
  ]) {
    await page.goto(new URL(path, page.url()).href);
    await page.locator("button:enabled", { hasText: button }).first().click();
    await page.locator("dialog").getByLabel("Name", { exact: true }).fill("Lost");
    await page.keyboard.press("Escape");
    await focused(page, "Keep editing");
    await question(page).getByRole("button", { name: "Discard" }).click();
    await gone(page.locator("dialog"));
  }
  assert.deepEqual(trouble, []);
  await context.close();
  await must("DELETE", `/channels/${channel.id}`);
});

/** Edits a target that is changed elsewhere before this is saved. */
async function clash(page, { id }) {
  await must("PATCH", `/targets/${id}`, { interval_s: 60, tags: [] });
  await page.getByRole("button", { name: "Edit" }).first().click();
  await page.getByLabel("Check every (seconds)").fill("45");
  await page.getByLabel("Name", { exact: true }).fill(`Mine ${run}`);
  await must("PATCH", `/targets/${id}`, { interval_s: 30, tags: [`theirs-${run}`] });
  await page.getByRole("button", { name: "Save changes" }).click();
  await page.locator("[data-conflict]").waitFor();
}

test("what somebody else changed meanwhile is shown, and saved over with what they left alone", async () => {
  const { context, page, trouble } = await openPage(browser, state, `/targets/${targets.Dog.id}`);
  await clash(page, targets.Dog);
  const box = page.locator("[data-conflict]:focus");
  await box.waitFor();
  const lines = await box.locator("li").evaluateAll((all) => all.map((one) => one.innerText.split(/\s*\n\s*/)));
  assert.deepEqual(lines, [
    ["Interval", "30 s", "45 s"],
    ["Tags", "none", `theirs-${run}`],
  ]);
  await box.getByText(/key/i).waitFor(); // whose it was
  assert.equal(await page.getByLabel("Check every (seconds)").inputValue(), "45");
  await page.getByRole("button", { name: `Remove theirs-${run}` }).waitFor(); // theirs is in the form
  const now = await must("GET", `/targets/${targets.Dog.id}`);
  assert.deepEqual([now.interval_s, now.name], [30, targets.Dog.name], "nothing is saved yet");

  await must("PATCH", `/targets/${targets.Dog.id}`, { timeout_ms: 3_000 }); // and once more
  await page.getByRole("button", { name: "Save over theirs" }).click();
  await page.locator("[data-conflict] li", { hasText: "Timeout" }).waitFor();
  await page.getByRole("button", { name: "Save over theirs" }).click();
  await gone(page.locator("dialog"));
  const { interval_s, name, tags, timeout_ms } = await must("GET", `/targets/${targets.Dog.id}`);
  assert.deepEqual([interval_s, name, tags, timeout_ms], [45, `Mine ${run}`, [`theirs-${run}`], 3_000]);
  assert.deepEqual(
    trouble.filter((line) => !/status of 412/.test(line)),
    [],
  );
  await context.close();
});

test(
  "many lines that are being added: Escape asks, and what was not added is told afterwards",
  verifyOnly,
  async () => {
    const { context, page, trouble } = await openPage(browser, state, "/");
    await page.getByRole("button", { name: "Add target" }).first().click();
    await page.getByRole("button", { name: "Many addresses" }).click();
    await page.locator("textarea").fill(Array.from({ length: 8 }, (_, i) => `${lab.url}/many${i}-${run}`).join("\n"));
    await page.getByText("Can be added: 8.", { exact: false }).first().waitFor();
    await page.keyboard.press("Escape");
    await focused(page, "Keep editing");
    await page.keyboard.press("Enter");

    const { release, asked } = await holdAfter(page, "**/api/v1/targets", "POST", 2);
    await page.getByRole("button", { name: "Start watching" }).click();
    await page.getByText("Added: 2.", { exact: false }).waitFor();
    await page.keyboard.press("Escape");
    await focused(page, "Go on");
    await question(page, "Stop adding?").getByText("Added so far, and staying: 2. Not added: 6.").waitFor();
    assert.deepEqual(await axeViolations(page), []);
    await shoot(page, "paste-stop-1280-light");
    await page.keyboard.press("Escape");
    await gone(question(page, "Stop adding?"));
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Stop and close" }).click();
    await gone(page.locator("dialog"));
    await until("four are under way", () => asked() === 6);
    release();
    await page.locator(".toast", { hasText: "Added: 6. Not added: 2." }).waitFor();
    assert.equal(
      (await must("GET", `/targets?search=${run}&limit=100`)).items.filter((one) => /many/.test(one.url)).length,
      6,
    );
    await page.keyboard.press("z");
    await page.locator(".toast", { hasText: "6 targets deleted." }).waitFor();
    assert.deepEqual(trouble, []);
    await context.close();
  },
);

test("an import that runs is not left without being asked", verifyOnly, async () => {
  const { context, page, trouble } = await openPage(browser, state, "/settings/transfer");
  await page.getByLabel("Or paste it").fill(`url,active\n${lab.url}/imported-${run},false`);
  await page.getByRole("button", { name: "See what would change" }).click();
  await page.locator("[data-import=judged]").waitFor();
  const { release } = await holdAfter(page, /\/api\/v1\/[^?]*import/, "POST", 0);
  await page.getByRole("button", { name: "Import 1 target" }).click();
  await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Fleet" }).click();
  const asks = question(page, "Leave without saving?");
  await asks.getByText("The import is still running", { exact: false }).waitFor();
  await asks.getByRole("button", { name: "Stay here" }).click();
  release();
  await page.locator("[data-import=done]").waitFor();
  assert.ok(await targetByUrl(`${lab.url}/imported-${run}`), "it went on");
  await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Fleet" }).click();
  await page.getByRole("heading", { level: 1, name: "Fleet" }).waitFor();
  assert.deepEqual(trouble, []);
  await context.close();
});

test("a key that is shown once does not go with Escape alone", verifyOnly, async () => {
  const { context, page, trouble } = await openPage(browser, state, "/settings/keys");
  await page.getByRole("button", { name: "Make a key" }).first().click();
  await page.locator("dialog").getByLabel("Name", { exact: true }).fill(`Lost ${run}`);
  await page.locator("dialog input[type=password]").fill(settings.password);
  await page.keyboard.press("Enter");
  const made = page.getByRole("dialog", { name: "Keep this key" });
  await made.waitFor();
  const key = await made.locator("code").first().innerText();
  await page.keyboard.press("Escape");
  await focused(page, "Show it again");
  await page.keyboard.press("Escape");
  await gone(question(page, "Have you kept it?"));
  assert.equal(await made.locator("code").first().innerText(), key);
  await made.getByRole("button", { name: "Close" }).click();
  await question(page, "Have you kept it?").getByRole("button", { name: "Show it again" }).click();
  await made.getByRole("button", { name: "Done" }).click();
  await gone(page.locator("dialog"));
  const { id } = (await must("GET", "/keys")).items.find((one) => one.name === `Lost ${run}`);
  await must("DELETE", `/keys/${id}`);
  assert.deepEqual(trouble, []);
  await context.close();
});

test("what is selected and not shown is told, can be dropped, and is deleted only after a question", async () => {
  const { context, page, trouble } = await openPage(browser, state, `/?q=${run}&sort=name`);
  for (const name of ["Ant", "Bee"]) await page.getByRole("checkbox", { name: `Select ${name} ${run}` }).check();
  const bar = page.getByRole("region", { name: "Selected targets" });
  await bar.getByText("2 selected").waitFor();
  await page.getByRole("searchbox").fill(`ant ${run}`);
  await bar.getByText("1 not shown by the filter").waitFor();
  assert.deepEqual(await axeViolations(page), []);
  await bar.getByRole("button", { name: "Delete" }).click();
  const asks = question(page, "Delete 2 targets?");
  await asks.getByText("Not shown by the filter: 1 of them.").waitFor();
  await shoot(page, "bulk-hidden-delete-1280-light");
  await asks.getByRole("button", { name: "Keep it" }).click();
  await bar.getByRole("button", { name: "Select only those shown" }).click();
  await bar.getByText("1 selected").waitFor();
  assert.equal(await bar.getByText("not shown").count(), 0);
  await bar.getByRole("button", { name: "Delete" }).click();
  await page.locator(".toast", { hasText: "1 target deleted." }).waitFor();
  await page.keyboard.press("z");
  await page.locator(`[data-row="${targets.Ant.id}"]`).waitFor();
  assert.equal((await api("GET", `/targets/${targets.Ant.id}`)).status, 200);
  assert.deepEqual(trouble, []);
  await context.close();
});

test("a message with a way back stays for ten seconds, and as long as the pointer is on it", async () => {
  const name = `Fox ${run}`;
  const { id } = await must("POST", "/targets", { url: `${lab.url}/fox-${run}`, name, active: false });
  const { context, page, trouble } = await openPage(browser, state, `/?q=${run}`);
  await page.clock.install();
  await page.reload();
  await page.getByRole("button", { name: `Actions for ${name}` }).click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  const toast = page.locator(".toast", { hasText: `${name} deleted.` });
  await toast.waitFor();
  await page.clock.fastForward(6_000);
  await toast.hover();
  await page.clock.fastForward(60_000);
  assert.equal((await api("GET", `/targets/${id}`)).status, 200);
  await toast.waitFor();
  await page.mouse.move(0, 0);
  await page.clock.fastForward(6_000);
  await toast.waitFor();
  await page.clock.fastForward(5_000);
  await gone(toast);
  await until("it is deleted", async () => (await api("GET", `/targets/${id}`)).status === 404);
  assert.deepEqual(trouble, []);
  await context.close();
});

test("who signs out within the seconds of a message has deleted what it says", verifyOnly, async () => {
  const own = await signIn(browser); // this session ends here
  const { context, page, trouble } = await openPage(browser, own, `/targets/${targets.Bee.id}`);
  await page.getByRole("button", { name: "Delete" }).click();
  await page.locator(".toast", { hasText: "deleted." }).waitFor();
  await page.getByRole("button", { name: "Menu", exact: true }).click();
  await page.getByRole("menuitem", { name: "Sign out" }).click();
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  assert.equal((await api("GET", `/targets/${targets.Bee.id}`)).status, 404);
  assert.deepEqual(trouble.filter(unlessSignedOut), []);
  await context.close();
});

test("a page that does not come leaves the way to the others", verifyOnly, async () => {
  const { context, page } = await openPage(browser, state, "/");
  await page.locator(`[data-row="${targets.Ant.id}"]`).waitFor();
  await page.route("**/assets/FleetPage*", (route) => route.abort());
  const ways = page.getByRole("navigation", { name: "Main", exact: true });
  await ways.getByRole("link", { name: "Fleet", exact: true }).click();
  await page.locator("main [data-problem]").waitFor();
  await ways.getByRole("link", { name: "Reports", exact: true }).click();
  await page.getByRole("heading", { level: 1, name: /report/i }).waitFor();
  await gone(page.locator("main [data-problem]"));
  await context.close();
});

test("in every mode: no overflow, no axe violation, nothing on the console", verifyOnly, async () => {
  let deleted = 0; // in each mode another one
  const found = await inEveryMode(browser, state, [
    [
      "discard",
      "/",
      async (page) => {
        await page.getByRole("button", { name: "Add target" }).first().click();
        await page.locator("input[name=url]").fill("example.com");
        await page.keyboard.press("Escape");
        await focused(page, "Keep editing");
      },
    ],
    [
      "bulk-hidden",
      `/?q=${run}&sort=name`,
      async (page) => {
        for (const name of ["Ant", "Cat"]) await page.getByRole("checkbox", { name: `Select ${name} ${run}` }).check();
        await page.getByRole("searchbox").fill(`ant ${run}`);
        await page.getByText("1 not shown by the filter").waitFor();
      },
    ],
    [
      "toast-undo",
      `/?q=${run}&sort=name`,
      async (page) => {
        const name = `Gone${deleted++} ${run}`;
        await must("POST", "/targets", { url: `${lab.url}/${name}`.replace(" ", "-"), name, active: false });
        await page.getByRole("button", { name: `Actions for ${name}` }).click();
        await page.getByRole("menuitem", { name: "Delete" }).click();
        // It stays while it has the focus.
        await page.locator(".toast", { hasText: "deleted." }).getByRole("button", { name: "Undo" }).focus();
      },
    ],
  ]);
  assert.deepEqual(found, []);
});

test("in every mode: two who change a target at once", verifyOnly, async () => {
  let opened = 0; // in each mode another one
  const found = await inEveryMode(browser, state, [
    [
      "conflict",
      "/",
      async (page) => {
        const name = `Twice${opened++} ${run}`;
        const target = await must("POST", "/targets", {
          url: `${lab.url}/${name}`.replace(" ", "-"),
          name,
          active: false,
        });
        await page.goto(new URL(`/targets/${target.id}`, page.url()).href);
        // Half a second after a press the browser no longer excuses what moves.
        await page.route(`**/api/v1/targets/${target.id}`, async (route) => {
          if (route.request().method() === "PATCH") await new Promise((go) => setTimeout(go, 700));
          await route.continue();
        });
        await clash(page, target);
      },
    ],
  ]);
  assert.deepEqual(
    found.filter((line) => !/status of 412/.test(line)),
    [],
  );
});
