// Many addresses pasted at once, and the request of an HTTP target, in a real browser.
// By itself or after the others: it makes the account when there is none.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import {
  inEveryMode,
  must,
  openPage,
  signIn,
  startBrowser,
  startLab,
  targetByUrl,
  unlessRefused,
  until,
  verifyOnly,
} from "./harness.mjs";

const run = Date.now().toString(36);
let browser;
let lab;
let state; // the signed-in browser's cookies

before(async () => {
  [browser, lab] = await Promise.all([startBrowser(), startLab()]);
  state = await signIn(browser);
  await must("POST", "/targets", { url: `${lab.url}/there-${run}`, name: `There ${run}` });
});
after(async () => {
  const { items } = await must("GET", "/targets?limit=200");
  for (const one of items) if (one.url.endsWith(run)) await must("DELETE", `/targets/${one.id}`);
  await browser?.close();
  await lab?.close();
});

/** Good, bad, doubled and watched lines; two of them with names, one of which only the server knows to be wrong. */
const pasted = () =>
  [
    "Name,URL",
    `First ${run},${lab.url}/first-${run}`,
    `,${lab.url}/second-${run}`,
    `,${lab.url}/second-${run}`,
    `,${lab.url}/there-${run}`,
    ",two words",
    `Inside ${run},http://10.0.0.1/${run}`,
  ].join("\n");

async function paste(page, text) {
  await page.getByRole("button", { name: "Many addresses" }).focus();
  await page.keyboard.press("Enter");
  await page.locator("textarea:focus").waitFor();
  await page.keyboard.press("Shift"); // somebody's hand is on the keys: what moves after it was asked for
  await page.keyboard.insertText(text);
}

const line = (page, no) => page.locator(`[data-line="${no}"]`);
const is = async (page, no, standing) => {
  await page.locator(`[data-line="${no}"][data-is="${standing}"]`).waitFor();
  return line(page, no).innerText();
};

test("by keyboard: many lines are judged, the good ones added, the others stay to be mended", async () => {
  const { context, page, trouble } = await openPage(browser, state, "/");
  await page.getByRole("button", { name: "Add target" }).waitFor();
  await page.locator("[data-row]").first().waitFor();
  await page.keyboard.press("c");
  await paste(page, pasted());
  assert.match(await is(page, 2, "good"), new RegExp(`First ${run}`));
  await is(page, 3, "good");
  assert.match(await is(page, 4, "skip"), /same as line 3/);
  assert.match(await is(page, 5, "skip"), new RegExp(`already, as There ${run}`));
  assert.match(await is(page, 6, "bad"), /no spaces/);
  await is(page, 7, "good"); // what is private is the server's to say
  await page.getByText("Can be added: 3. Wrong: 1. Left out: 2.").first().waitFor();
  assert.equal(await targetByUrl(`${lab.url}/first-${run}`), undefined, "nothing is sent yet");
  await page.getByRole("combobox", { name: "Tags" }).focus();
  await page.keyboard.type(`paste-${run},`);
  await page.getByRole("button", { name: "Start watching" }).focus();
  await page.keyboard.press("Enter");
  await page.getByText("Added: 2. To be mended: 2. Left out: 2.").first().waitFor();
  await page.locator(".paste-outcome p:focus").waitFor();
  await is(page, 2, "added");
  assert.match(await is(page, 7, "bad"), /private/);
  const [first, second] = [await targetByUrl(`${lab.url}/first-${run}`), await targetByUrl(`${lab.url}/second-${run}`)];
  assert.deepEqual(
    [first, second].map(({ name, tags, interval_s }) => [name.includes("irst"), tags, interval_s]),
    [
      [true, [`paste-${run}`], 60],
      [false, [`paste-${run}`], 60],
    ],
  );
  await page.getByRole("button", { name: "Mend what is left" }).focus();
  await page.keyboard.press("Enter");
  await page.locator("textarea:focus").waitFor();
  assert.equal(
    await page.locator("textarea").inputValue(),
    `Name,URL\n,two words\nInside ${run},http://10.0.0.1/${run}`,
  );
  assert.match(await is(page, 3, "good"), /private/, "what the server said is still there");
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.insertText(`${lab.url}/third-${run}`);
  await is(page, 1, "good");
  await page.getByRole("button", { name: "Start watching" }).focus();
  await page.keyboard.press("Enter");
  await page.locator("dialog").waitFor({ state: "detached" });
  await page.getByText("3 targets added.").first().waitFor();
  await page.getByRole("button", { name: "Undo" }).focus();
  await page.keyboard.press("Enter");
  await page.getByText("3 targets deleted.").first().waitFor();
  assert.equal(await targetByUrl(`${lab.url}/third-${run}`), undefined);
  assert.equal(await targetByUrl(`${lab.url}/first-${run}`), undefined);
  assert.deepEqual(trouble.filter(unlessRefused), []);
  await context.close();
});

test("more lines than are taken at once, and none that can be added, are said on the field", verifyOnly, async () => {
  const { context, page, trouble } = await openPage(browser, state, "/");
  await page.getByRole("button", { name: "Add target" }).click();
  await paste(page, Array.from({ length: 501 }, (_, i) => `a${i}.example`).join("\n"));
  await page.getByText("At most 500 lines at once: there are 501.").waitFor();
  await page.getByRole("button", { name: "Start watching" }).click();
  await page.locator("textarea[aria-invalid=true]:focus").waitFor();
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.insertText("two words");
  await page.getByRole("button", { name: "Start watching" }).click();
  await page.getByText("No line can be added as it is.").waitFor();
  assert.deepEqual(trouble, []);
  await context.close();
});

test(
  "by keyboard: the request has a secret header, which arrives, stays with an edit, and is never shown",
  verifyOnly,
  async () => {
    const heard = [];
    const server = createServer((request, response) => {
      heard.push({ at: request.url, method: request.method, key: request.headers["x-key"] });
      response.end("ok");
    });
    await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${server.address().port}/asked-${run}`;
    const secret = `canary-${run}`;
    const { context, page, trouble } = await openPage(browser, state, "/");
    const shown = []; // what the API answers of it
    page.on("response", async (response) => {
      if (/\/api\/v1\//.test(response.url())) shown.push(await response.text().catch(() => ""));
    });
    await page.locator("[data-row]").first().waitFor();
    await page.keyboard.press("c");
    await page.getByLabel("URL", { exact: true }).waitFor();
    await page.keyboard.insertText(url);
    await page.getByLabel("Check every (seconds)").fill("2");
    const fold = page.getByRole("button", { name: /^Request:/ });
    assert.equal(await fold.getAttribute("aria-expanded"), "false", "it is as by default");
    await fold.focus();
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Add header" }).focus();
    await page.keyboard.press("Enter");
    await page.locator(".request-header input:focus").waitFor();
    await page.keyboard.type("Host");
    await page.getByLabel("Header 1 is secret").focus();
    await page.keyboard.press("Space");
    await page.getByRole("button", { name: "Start watching" }).focus();
    await page.keyboard.press("Enter");
    await page.getByText("Write the secret.").waitFor();
    await page.getByLabel("Header 1, value").fill(secret);
    await page.keyboard.press("Enter");
    await page.getByText("This header cannot be set", { exact: false }).waitFor();
    await page.locator(".request-header input[aria-invalid=true]:focus").waitFor();
    await page.keyboard.press("ControlOrMeta+a");
    await page.keyboard.type("X-Key");
    await page.getByLabel("Method").selectOption("POST");
    await page.keyboard.press("Tab");
    await page.getByRole("button", { name: "Start watching" }).click();
    await page.locator("dialog").waitFor({ state: "detached" });
    const came = (method) => heard.some((one) => one.method === method && one.key === secret);
    await until("the header arrives", () => came("POST"));

    const { id } = await targetByUrl(url);
    await page.goto(new URL(`/targets/${id}`, page.url()).href);
    await page.getByRole("button", { name: "Edit" }).first().click();
    const value = page.getByLabel("Header 1, value");
    await value.waitFor(); // not folded: it is not as by default
    assert.equal(await value.inputValue(), "");
    assert.match(await value.getAttribute("placeholder"), /it stays/);
    await page.getByLabel("Method").selectOption("PUT");
    await page.getByRole("button", { name: "Save changes" }).click();
    await page.locator("dialog").waitFor({ state: "detached" });
    await until("the secret arrives with the new method", () => came("PUT"));
    const { http } = await must("GET", `/targets/${id}`);
    assert.deepEqual(http, { method: "PUT", headers: [{ name: "X-Key", secret: "[secret]" }] });
    assert.ok(!shown.join("").includes(secret), "no answer to the page has it");
    assert.deepEqual(trouble.filter(unlessRefused), []);
    await context.close();
    await must("DELETE", `/targets/${id}`);
    server.closeAllConnections();
    server.close();
  },
);

test("in every mode: no overflow, no axe violation, nothing on the console", verifyOnly, async () => {
  let shown = 0; // in each mode another one
  const found = await inEveryMode(browser, state, [
    [
      "paste",
      "/",
      async (page) => {
        await page.getByRole("button", { name: "Add target" }).click();
        await paste(page, pasted());
        await is(page, 6, "bad");
      },
    ],
    [
      "paste-outcome",
      "/",
      async (page) => {
        await page.getByRole("button", { name: "Add target" }).click();
        await paste(page, `${lab.url}/shown-${shown++}-${run}\ntwo words`);
        await page.getByRole("button", { name: "Start watching" }).click();
        await page.getByText("Added: 1. To be mended: 1.").first().waitFor();
      },
    ],
    [
      "request",
      "/",
      async (page) => {
        await page.getByRole("button", { name: "Add target" }).click();
        await page.getByRole("button", { name: /^Request:/ }).click();
        await page.getByRole("button", { name: "Add header" }).click();
        await page.getByLabel("Header 1 is secret").check();
        await page.getByRole("button", { name: "User name and password" }).click();
        await page.getByRole("button", { name: "Start watching" }).click();
        await page.getByText("Write the user name.").waitFor();
      },
    ],
  ]);
  assert.deepEqual(found, []);
});
