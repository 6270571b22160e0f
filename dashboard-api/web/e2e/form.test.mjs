// The form of a target in a real browser: testing what is not saved, and assertions.
// By itself or after the others: it makes the account when there is none.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import {
  axeViolations,
  drawn,
  inEveryMode,
  must,
  openPage,
  shoot,
  signIn,
  startBrowser,
  tabTo,
  until,
  verifyOnly,
} from "./harness.mjs";

const run = Date.now().toString(36);
const password = `pw-${run}`;
const basic = `Basic ${Buffer.from(`ann:${password}`).toString("base64")}`;
let browser;
let state; // the signed-in browser's cookies
let site; // what is watched: it tells who came with which password
let visits = [];
let slowMs = 0; // how long it takes
let added; // the target of the first test
const found = async (text) => (await must("GET", `/targets?search=${text}`)).items;

before(async () => {
  const server = createServer((request, response) => {
    visits.push({ path: request.url, authorization: request.headers.authorization ?? "" });
    if (request.url.startsWith("/secret") && request.headers.authorization !== basic) {
      response.writeHead(401, { "content-type": "text/plain" }).end("who are you?");
      return;
    }
    response.writeHead(200, { "content-type": "text/plain", "x-answer": "forty-two" });
    setTimeout(() => response.end("all is well"), slowMs);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  site = {
    url: `http://127.0.0.1:${server.address().port}`,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
  browser = await startBrowser();
  state = await signIn(browser);
});
after(async () => {
  await browser?.close();
  await site?.close();
});

const panel = (page) => page.getByRole("region", { name: "Test", exact: true });
const ended = (page) => page.locator("[data-test=ended]").waitFor();
const seen = (page, region) => page.locator(`dialog details[data-region=${region}]`);

test("by keyboard: a new target is tested before it is saved, by region and phase; nothing is saved by that", async () => {
  const { context, page, trouble } = await openPage(browser, state, "/");
  await page.getByRole("button", { name: "Add target" }).first().waitFor();
  await page.locator("[data-link=live]").first().waitFor();
  await page.keyboard.press("c");
  await page.locator("input[name=url]:focus").waitFor();
  await page.keyboard.type(`${site.url}/new-${run}`);
  await tabTo(page, page.locator("dialog").getByRole("button", { name: "Test now" }));
  await page.keyboard.press("Enter");
  await ended(page);
  for (const region of ["eu", "us"]) {
    assert.equal(await seen(page, region).getAttribute("data-status"), "up");
    assert.match(
      await seen(page, region).innerText(),
      /Connect\s+[\d.]+ m?s[\s\S]*Wait for answer[\s\S]*Total\s+[\d.]+ m?s/,
    );
  }
  const tested = /^Tested: up from eu in \d+ ms, up from us in \d+ ms\.$/;
  await panel(page).getByText(tested).waitFor();
  await page.locator("dialog [role=status]").filter({ hasText: tested }).waitFor(); // behind the dialog nobody hears it
  assert.deepEqual(await axeViolations(page), []);
  await shoot(page, "form-tested-1280-light");
  assert.equal((await found(`new-${run}`)).length, 0, "nothing is saved");
  assert.equal(visits.filter((visit) => visit.path === `/new-${run}`).length, 2, "one visit from each region");

  await tabTo(page, page.locator("input[name=url]"));
  await page.keyboard.press("End");
  await page.keyboard.type("x");
  await panel(page).getByText("The form has changed since this test.").waitFor();
  await page.keyboard.press("Backspace");
  await panel(page).getByText("The form has changed since this test.").waitFor({ state: "detached" });
  await page.keyboard.press("Enter");
  await page.locator("dialog").waitFor({ state: "detached" });
  added = await until("the target in the API", async () => (await found(`new-${run}`)).at(0));
  assert.deepEqual(trouble, []);
  await context.close();
});

test("by keyboard: a saved target gets an assertion that fails, the test shows it with what was seen, it is saved", async () => {
  const { context, page, trouble } = await openPage(browser, state, `/targets/${added.id}`);
  const edit = page.getByRole("button", { name: "Edit" });
  await edit.waitFor();
  await tabTo(page, edit);
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog", { name: "Edit target" });
  await dialog.waitFor();
  await tabTo(page, dialog.getByRole("button", { name: "Assertions" }));
  await page.keyboard.press("Enter");
  const add = dialog.getByRole("button", { name: "Add assertion" });
  await add.waitFor();
  await tabTo(page, add);
  await page.keyboard.press("Enter");
  const [first, second] = [1, 2].map((n) => dialog.getByRole("group", { name: `Assertion ${n}` }));
  await first.getByLabel("What is looked at").and(page.locator(":focus")).waitFor();
  await tabTo(page, first.getByLabel("Comparison"));
  await page.keyboard.type("con"); // contains
  await tabTo(page, first.getByLabel("Value"));
  await page.keyboard.type("nothing is well");
  await tabTo(page, add);
  await page.keyboard.press("Enter");
  await second.getByLabel("What is looked at").and(page.locator(":focus")).waitFor();
  await page.keyboard.type("hea"); // header
  await tabTo(page, second.getByLabel("Name of the header"));
  await page.keyboard.type("x-answer");
  await tabTo(page, second.getByLabel("Value"));
  await page.keyboard.type("forty-two");
  await tabTo(page, second.getByLabel("If it does not hold"));
  await page.keyboard.type("deg"); // degraded
  await tabTo(page, page.locator("dialog").getByRole("button", { name: "Test now" }));
  await page.keyboard.press("Enter");
  await ended(page);
  assert.equal(await seen(page, "eu").getAttribute("data-status"), "down");
  await seen(page, "eu")
    .getByText('Assertion 1: body is "all is well", want it to contain "nothing is well"')
    .waitFor();
  assert.equal(await seen(page, "eu").locator(".test-failed li > svg").count(), 1, "an icon, and no glyph of a font");
  assert.match(await first.innerText(), /Failed from eu: body is "all is well", want it to contain "nothing is well"/);
  assert.match(await first.innerText(), /Failed from us: /);
  assert.equal(await second.getAttribute("data-judged"), "passed");
  assert.match(await second.innerText(), /Holds/);
  assert.deepEqual(await axeViolations(page), []);
  await first.scrollIntoViewIfNeeded();
  await shoot(page, "form-assertions-1280-light");
  assert.deepEqual((await must("GET", `/targets/${added.id}`)).assertions, [], "not saved yet");

  await tabTo(page, first.getByLabel("Value"));
  await page.keyboard.press("End");
  await page.keyboard.type("!");
  await until("what was changed is judged no more", async () => (await first.getAttribute("data-judged")) === null);
  assert.equal(await second.getAttribute("data-judged"), "passed");
  await page.keyboard.press("Enter");
  await page.locator("dialog").waitFor({ state: "detached" });
  assert.deepEqual((await must("GET", `/targets/${added.id}`)).assertions, [
    { source: "body", op: "contains", value: "nothing is well!" },
    { source: "header", name: "x-answer", op: "equals", value: "forty-two", severity: "degrade" },
  ]);
  assert.deepEqual(trouble, []);
  await context.close();
});

test("mistakes stand at their assertion; what was not touched stays as it was", verifyOnly, async () => {
  const { context, page, trouble } = await openPage(browser, state, `/targets/${added.id}`);
  await page.getByRole("button", { name: "Edit" }).click();
  const dialog = page.getByRole("dialog", { name: "Edit target" });
  await dialog.getByRole("button", { name: "Assertions (2)" }).waitFor();
  await dialog.getByRole("button", { name: "Add assertion" }).click();
  const third = dialog.getByRole("group", { name: "Assertion 3" });
  await third.getByLabel("Comparison").selectOption("matches");
  await third.getByLabel("Pattern (RE2)").fill("(");
  for (const button of ["Test now", "Save changes"]) {
    await dialog.getByRole("button", { name: button }).click();
    await third.locator("input[aria-invalid=true]:focus").waitFor();
    assert.equal(await dialog.locator("[aria-invalid=true]").count(), 1);
    await third.getByLabel("If it does not hold").focus();
  }
  await shoot(page, "form-assertion-refused-1280-light");
  await third.getByRole("button", { name: "Remove assertion 3" }).click();
  await dialog.getByRole("button", { name: "Add assertion" }).and(page.locator(":focus")).waitFor();
  await dialog.getByRole("button", { name: "Remove assertion 1" }).click();
  await dialog.getByRole("button", { name: "Save changes" }).click();
  await page.locator("dialog").waitFor({ state: "detached" });
  await page.locator(".toast", { hasText: /: (up|degraded) from .+ in \d+ ms/ }).waitFor(); // its preview
  assert.deepEqual((await must("GET", `/targets/${added.id}`)).assertions, [
    { source: "header", name: "x-answer", op: "equals", value: "forty-two", severity: "degrade" },
  ]);
  assert.deepEqual(
    trouble.filter((line) => !/status of 422/.test(line)),
    [],
  );
  await context.close();
});

test(
  "what the server has against a test stands at its field, and a visit that fails says why",
  verifyOnly,
  async () => {
    const { context, page, trouble } = await openPage(browser, state, "/");
    await page.getByRole("button", { name: "Add target" }).first().click();
    const dialog = page.getByRole("dialog", { name: "Add target" });
    await dialog.getByRole("button", { name: "Test now" }).click();
    await dialog.getByText("Enter the address to watch.").waitFor();
    await dialog.getByLabel("URL").fill("http://user:secret@example.com/");
    await dialog.getByRole("button", { name: "Test now" }).click();
    await page.locator("input[name=url][aria-invalid=true]:focus").waitFor();
    assert.equal(await panel(page).count(), 0);
    await dialog.getByLabel("URL").fill(`${site.url}/secret-${run}`);
    await dialog.getByRole("button", { name: "Name, timeout, regions, expected status" }).click();
    await dialog.getByRole("checkbox", { name: "us" }).check();
    await dialog.getByRole("button", { name: "Test now" }).click();
    await ended(page);
    assert.equal(await page.locator("dialog details").count(), 1, "only from the region that was chosen");
    assert.equal(await seen(page, "us").getAttribute("data-status"), "down");
    await seen(page, "us").getByText("answered 401 Unauthorized, expected 200-399").waitFor();
    assert.deepEqual(
      trouble.filter((line) => !/status of 422/.test(line)),
      [],
    );
    await context.close();
  },
);

test("a saved target is tested with its stored secrets, from its page and from the form", async () => {
  const target = await must("POST", "/targets", {
    url: `${site.url}/secret-${run}`,
    name: `Secret ${run}`,
    interval_s: 3600,
    http: { username: "ann", password },
  });
  const previewed = () => visits.filter((visit) => visit.path === `/secret-${run}` && visit.authorization).length;
  await until("its preview came from both regions", () => previewed() >= 2);
  const { context, page, trouble } = await openPage(browser, state, `/targets/${target.id}`);
  await page.getByRole("heading", { level: 1 }).waitFor();
  visits = [];
  await page.getByRole("button", { name: "Test now" }).last().click();
  await page
    .getByText(new RegExp(`Secret ${run}: up from eu`))
    .first()
    .waitFor();
  assert.equal(visits.filter((visit) => visit.authorization === basic).length, 2);

  await page.getByRole("button", { name: "Edit" }).click();
  const dialog = page.getByRole("dialog", { name: "Edit target" });
  visits = [];
  await dialog.getByLabel("URL").fill(`${site.url}/secret-${run}?other`);
  await dialog.getByRole("button", { name: "Test now" }).click();
  await ended(page);
  assert.equal(await seen(page, "eu").getAttribute("data-status"), "up");
  assert.deepEqual(new Set(visits.map((visit) => visit.path)), new Set([`/secret-${run}?other`]));
  await panel(page).getByText("The secrets stored for this target are sent along").waitFor();
  assert.ok(!(await page.content()).includes(password), "the secret is nowhere on the page");

  await dialog.getByLabel("URL").fill(`http://localhost:${new URL(site.url).port}/secret-${run}`);
  visits = [];
  await dialog.getByRole("button", { name: "Test now" }).click();
  await dialog.getByText("The secrets stored here were written for another host", { exact: false }).waitFor();
  assert.deepEqual(visits, [], "they go to no other host");
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Discard" }).click();
  await page.locator("dialog").waitFor({ state: "detached" });
  assert.equal((await must("GET", `/targets/${target.id}`)).url, target.url, "nothing was saved");
  assert.deepEqual(
    trouble.filter((line) => !/status of 422/.test(line)),
    [],
  );
  await context.close();
});

const { LAB_SMTP: smtp, LAB_DNS: dns } = process.env;
const needs = (server) => ({ skip: verifyOnly.skip || (!server && "the lab is not there") });
const fold = (dialog, name) => dialog.getByRole("button", { name, exact: true });
const unverified = "The certificate is not verified: whoever answers is believed.";

test("by keyboard: a mail server with STARTTLS is tested, saved and edited; that nobody verifies it is said", {
  ...needs(smtp),
}, async () => {
  const { context, page, trouble } = await openPage(browser, state, "/");
  await page.getByRole("button", { name: "Add target" }).first().waitFor();
  await page.locator("[data-link=live]").first().waitFor();
  await page.keyboard.press("c");
  await page.locator("input[name=url]:focus").waitFor();
  await page.keyboard.type(`tcp://${smtp}`);
  const dialog = page.getByRole("dialog");
  const reach = async (what, typed) => {
    await what.waitFor();
    await tabTo(page, what);
    if (typed !== undefined) await page.keyboard.type(typed);
  };
  const press = async (what, key = "Enter") => {
    await reach(what);
    await page.keyboard.press(key);
  };
  await reach(dialog.locator("input[name=interval_s]"), "");
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.type("3600");
  await press(fold(dialog, "TCP: what is sent, STARTTLS"));
  const skip = dialog.getByLabel("Do not verify the certificate");
  await dialog.getByLabel("What is sent", { exact: true }).waitFor();
  assert.equal(await skip.count(), 0, "without STARTTLS there is no certificate");
  await reach(dialog.getByLabel("Upgrade to TLS (STARTTLS)"), "SMTP");
  await press(dialog.getByRole("button", { name: "Test now" }));
  await ended(page);
  assert.equal(await seen(page, "eu").getAttribute("data-status"), "down");
  assert.match(await seen(page, "eu").innerText(), /certificate is not trusted/i);

  await press(skip, "Space");
  await dialog.getByText(unverified).waitFor();
  await reach(dialog.getByLabel("What is sent", { exact: true }), "NOOP");
  await page.keyboard.press("Enter");
  await press(dialog.getByRole("button", { name: "Expect an answer" }));
  const row = dialog.getByRole("group", { name: "Assertion 1" });
  await row.getByLabel("What is looked at").and(page.locator(":focus")).waitFor();
  assert.equal(await row.getByLabel("What is looked at").inputValue(), "received");
  await reach(row.getByLabel("Value"), "250 lab.test");
  await press(dialog.getByRole("button", { name: "Test now" }));
  await panel(page).getByText("up from eu").waitFor();
  assert.equal(await row.getAttribute("data-judged"), "passed");
  assert.deepEqual(await axeViolations(page), []);
  await dialog.getByText(unverified).scrollIntoViewIfNeeded();
  await shoot(page, "form-starttls-1280-light");
  await press(row.getByLabel("Value"));
  await dialog.waitFor({ state: "detached" });

  // The newest: a run that failed may have left one.
  const [saved] = (await found(smtp)).toSorted((a, b) => b.id - a.id);
  const stored = async () => {
    const { url, interval_s, family, http, tcp, tls, dns, websocket, assertions } = await must(
      "GET",
      `/targets/${saved.id}`,
    );
    return { url, interval_s, family, http, tcp, tls, dns, websocket, assertions };
  };
  const first = {
    url: `tcp://${smtp}`,
    interval_s: 3600,
    family: "",
    http: null,
    tcp: { send: "NOOP\r\n", starttls: "smtp" },
    tls: { skip_verify: true },
    dns: null,
    websocket: null,
    assertions: [{ source: "received", op: "contains", value: "250 lab.test" }],
  };
  assert.deepEqual(await stored(), first);

  await page.goto(new URL(`/targets/${saved.id}`, process.env.BASE_URL).href);
  await page.getByText(unverified).waitFor();
  assert.deepEqual(await axeViolations(page), []);
  await shoot(page, "target-unverified-1280-light");
  await press(page.getByRole("button", { name: "Edit" }));
  await skip.waitFor(); // what is not as by default is open
  assert.equal(await dialog.getByLabel("What is sent", { exact: true }).inputValue(), "NOOP\n");
  await press(fold(dialog, "TCP: what is sent, STARTTLS"));
  await skip.waitFor({ state: "detached" });
  await dialog.getByText(unverified).waitFor(); // also while the rest is folded
  await page.keyboard.press("Enter");
  await reach(dialog.getByLabel("Server name (SNI)"), "127.0.0.1");
  await press(dialog.getByLabel("Addresses"), "ArrowDown"); // IPv4
  await press(dialog.getByRole("button", { name: "Save changes" }));
  await dialog.getByLabel("Server name (SNI)").and(page.locator("[aria-invalid=true]:focus")).waitFor();
  assert.equal(await dialog.locator("[aria-invalid=true]").count(), 1);
  assert.deepEqual(await stored(), first, "nothing was saved");
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.type("mail.lab.test");
  await press(skip, "Space");
  await dialog.getByText(unverified).waitFor({ state: "detached" });
  await press(dialog.getByRole("button", { name: "Save changes" }));
  await dialog.waitFor({ state: "detached" });
  assert.deepEqual(await stored(), { ...first, family: "4", tls: { server_name: "mail.lab.test" } });
  await page.getByText(unverified).waitFor({ state: "detached" });
  assert.deepEqual(
    trouble.filter((line) => !/status of 422/.test(line)),
    [],
  );
  await context.close();
  await must("DELETE", `/targets/${saved.id}`);
});

test("a question of DNS is put together by fields, tested, saved and edited; its rule is set with it", {
  ...needs(dns),
}, async () => {
  const { context, page, trouble } = await openPage(browser, state, "/");
  await page.getByRole("button", { name: "Add target" }).first().click();
  const dialog = page.getByRole("dialog");
  const question = (type) => `dns://${dns}/a-192-0-2-1.x-${run}.lab.test?type=${type}`;
  await dialog.getByLabel("URL").fill(`dns:///a-192-0-2-1.x-${run}.lab.test`);
  await dialog.getByLabel("Check every (seconds)").fill("3600");
  await fold(dialog, "DNS: record type, server, transport").click();
  await dialog.getByLabel("Server that is asked").fill(dns);
  assert.equal(await dialog.getByLabel("URL").inputValue(), question("A"));
  await dialog.getByLabel("Transport").selectOption("TCP");
  await dialog.getByRole("button", { name: "Expect an answer" }).click();
  const row = dialog.getByRole("group", { name: "Assertion 1" });
  await row.getByLabel("Value").fill("192.0.2.1");
  await dialog.getByRole("button", { name: "Test now" }).click();
  await panel(page).getByText("up from eu").waitFor();
  assert.equal(await row.getAttribute("data-judged"), "passed");
  await fold(dialog, "Rule: quorum, confirmation, when people are told").click();
  await dialog.getByLabel("Failing results in a row").fill("99");
  await dialog.getByRole("button", { name: "Start watching" }).click();
  await dialog.getByLabel("Failing results in a row").and(page.locator("[aria-invalid=true]:focus")).waitFor();
  await dialog.getByLabel("Failing results in a row").fill("2");
  await dialog.getByRole("button", { name: "All", exact: true }).click();
  assert.deepEqual(await axeViolations(page), []);
  await shoot(page, "form-dns-1280-light");
  await dialog.getByRole("button", { name: "Start watching" }).click();
  await dialog.waitFor({ state: "detached" });
  const saved = await until("the target in the API", async () => (await found(`x-${run}`)).at(0));
  const stored = async () => {
    const { url, dns, tls, policy, assertions } = await must("GET", `/targets/${saved.id}`);
    return { url, dns, tls, policy, assertions };
  };
  const first = {
    url: question("A"),
    dns: { transport: "tcp" },
    tls: null,
    policy: { quorum: { rule: "all" }, down_after: 2 },
    assertions: [{ source: "dns", name: "A", op: "equals", value: "192.0.2.1" }],
  };
  assert.deepEqual(await stored(), first);

  await page.goto(new URL(`/targets/${saved.id}`, process.env.BASE_URL).href);
  await page.getByRole("button", { name: "Edit" }).click();
  const tried = dialog.getByRole("link", { name: "Try another rule" });
  assert.equal(await tried.getAttribute("href"), `/targets/${saved.id}/rule`);
  await dialog.getByLabel("Record type", { exact: true }).first().selectOption("TXT");
  await dialog.getByLabel("Transport").selectOption("UDP, and TCP where the answer was cut");
  await row.getByRole("button", { name: "Remove assertion 1" }).click();
  await dialog.getByRole("button", { name: "Save changes" }).click();
  await dialog.waitFor({ state: "detached" });
  assert.deepEqual(await stored(), { ...first, url: question("TXT"), dns: null, assertions: [] });
  assert.deepEqual(
    trouble.filter((line) => !/status of 422/.test(line)),
    [],
  );
  await context.close();
  await must("DELETE", `/targets/${saved.id}`);
});

/** Somebody comes back to a tab. */
const comeBack = (page) =>
  page.evaluate(() => document.dispatchEvent(new Event("visibilitychange", { bubbles: true })));

test(
  "whom a target would tell is said as its form stands: by its tags, its rule, or that it is nobody",
  verifyOnly,
  async () => {
    const rules = "/notification-rules";
    // Others may have left some that tell everything.
    const others = (await must("POST", `${rules}:match`, {})).items.map((one) => one.rule.id);
    for (const id of others) await must("PATCH", `${rules}/${id}`, { enabled: false });
    const desk = await must("POST", "/channels", {
      name: `Desk ${run}`,
      webhook: { url: "http://127.0.0.1:9/hook", secret: `signing-key-${run}` },
    });
    const tag = `form-${run}`;
    const tagged = await must("POST", rules, {
      name: `Tagged ${run}`,
      tags: [tag],
      channel_ids: [desk.id],
      escalations: [{ after_minutes: 15, channel_ids: [desk.id] }],
    });
    const { context, page, trouble } = await openPage(browser, state, "/");
    await page.getByRole("button", { name: "Add target" }).first().click();
    const dialog = page.getByRole("dialog", { name: "Add target" });
    const told = dialog.getByRole("region", { name: "Alerts", exact: true });
    const nobody = told.getByText("Nobody is told when this target fails");
    await nobody.waitFor();
    const tags = dialog.getByRole("combobox", { name: "Tags" });
    await tags.fill(tag);
    await tags.press("Enter");
    await told
      .getByText(`Every incident of targets tagged ${tag} to Desk ${run}. Not acknowledged after 15 min: Desk ${run}.`)
      .waitFor();
    assert.equal(await nobody.count(), 0);
    const degraded = told.getByText("While it is only degraded nobody is told: see “Tell people when it is”.");
    await degraded.waitFor();
    await fold(dialog, "Rule: quorum, confirmation, when people are told").click();
    await dialog.getByRole("button", { name: "Degraded too" }).click();
    await degraded.waitFor({ state: "detached" });
    assert.deepEqual(await axeViolations(page), []);
    await told.scrollIntoViewIfNeeded();
    await shoot(page, "form-alerts-1280-light");

    await must("PATCH", `${rules}/${tagged.id}`, { severities: ["down"] });
    await comeBack(page);
    await told.getByText("None of them tells that it is degraded.").waitFor();
    await told
      .getByText(`Incidents that are down of targets tagged ${tag} to Desk ${run}.`, { exact: false })
      .waitFor();
    await dialog.getByRole("button", { name: `Remove ${tag}` }).click();
    await nobody.waitFor();

    // Where nobody is, a rule is made beside the form, which then knows of it.
    const [beside] = await Promise.all([
      context.waitForEvent("page"),
      told.getByRole("link", { name: "Add notification rule" }).click(),
    ]);
    const make = beside.getByRole("dialog", { name: "Add notification rule" });
    await make.getByLabel("Name", { exact: true }).fill(`All ${run}`);
    await make.getByRole("group", { name: "Tell", exact: true }).first().getByLabel(`Desk ${run}`).check();
    await make.getByRole("button", { name: "Add rule" }).click();
    await make.waitFor({ state: "detached" });
    assert.equal(new URL(beside.url()).search, "", "going back does not ask again");
    await beside.close();
    await comeBack(page);
    await told.getByText(`Every incident to Desk ${run}.`).waitFor();
    const made = (await must("GET", rules)).items.find((one) => one.name === `All ${run}`);

    assert.deepEqual(trouble, []);
    await context.close();

    // Of a saved target also those that name it, and nobody on a channel that is off.
    await must("PATCH", `${rules}/${made.id}`, { target_ids: [added.id] });
    const saved = async (text, page) => {
      await page.getByRole("button", { name: "Edit" }).click();
      const found = page.getByRole("dialog", { name: "Edit target" }).getByText(text);
      await found.waitFor();
      await drawn(page);
      await found.scrollIntoViewIfNeeded();
    };
    const looks = (name, text) => [name, `/targets/${added.id}`, (page) => saved(text, page)];
    const one = looks("form-alerts", `Every incident of 1 target to Desk ${run}.`);
    assert.deepEqual(await inEveryMode(browser, state, [one]), []);
    await must("PATCH", `/channels/${desk.id}`, { enabled: false });
    const none = looks("form-alerts-none", "Nobody is told when this target fails");
    assert.deepEqual(await inEveryMode(browser, state, [none]), []);
    for (const id of [made.id, tagged.id]) await must("DELETE", `${rules}/${id}`);
    await must("DELETE", `/channels/${desk.id}`);
    for (const id of others) await must("PATCH", `${rules}/${id}`, { enabled: true });
  },
);

test("where nothing live gets through, the outcome is asked for", verifyOnly, async () => {
  const context = await browser.newContext({ viewport: { width: 390, height: 844 }, storageState: state });
  const page = await context.newPage();
  await page.routeWebSocket(/\/api\/v1\/live/, (socket) => socket.close());
  await page.route(/\/api\/v1\/live\/events/, (route) => route.abort());
  await page.goto(new URL("/", process.env.BASE_URL).href);
  await page.locator("[data-link]:not([data-link=live])").first().waitFor();
  await page.getByRole("button", { name: "Add target" }).first().click();
  await page.getByLabel("URL").fill(`${site.url}/cut-${run}`);
  await page.getByRole("button", { name: "Test now" }).last().click();
  await ended(page);
  assert.equal(await seen(page, "eu").getAttribute("data-status"), "up");
  assert.equal(await page.locator("[data-link=live]").count(), 0);
  await shoot(page, "form-polled-390-light");
  await context.close();
});

test("in every mode: no overflow, no axe violation, nothing on the console", verifyOnly, async () => {
  slowMs = 1_000; // what comes more than half a second after a click moves by itself, as browsers count it
  const wrong = await inEveryMode(browser, state, [
    [
      "form-tested",
      "/",
      async (page) => {
        await page.getByRole("button", { name: "Add target" }).first().click();
        await page.getByLabel("URL").fill(`${site.url}/modes-${run}`);
        await page.getByRole("button", { name: "Test now" }).last().click();
        await ended(page);
      },
    ],
    [
      "form-websocket",
      "/",
      async (page) => {
        await page.getByRole("button", { name: "Add target" }).first().click();
        await page.getByLabel("URL").fill("wss://example.com/live");
        await fold(page, "WebSocket: message, headers, subprotocols, TLS").click();
        await page.getByRole("button", { name: "Add header" }).click();
        await page.getByLabel("Do not verify the certificate").check();
        await fold(page, "Rule: quorum, confirmation, when people are told").click();
        await page.getByLabel("Failing results in a row").waitFor();
        await page.getByText(unverified).scrollIntoViewIfNeeded();
      },
    ],
    [
      "form-assertions",
      `/targets/${added.id}`,
      async (page) => {
        await page.getByRole("button", { name: "Edit" }).click();
        const add = page.getByRole("button", { name: "Add assertion" });
        await add.click();
        const row = page.getByRole("group", { name: "Assertion 2" });
        await row.getByLabel("What is looked at").selectOption("phase");
        await row.getByLabel("Milliseconds").fill("1");
        await page.getByRole("button", { name: "Test now" }).last().click();
        await ended(page);
        await drawn(page);
        await row.scrollIntoViewIfNeeded();
      },
    ],
  ]);
  assert.deepEqual(wrong, []);
  for (const target of await found(run)) await must("DELETE", `/targets/${target.id}`);
});
