// What people and servers write runs nowhere as a script: every field that somebody may fill is filled with
// each of these texts, servers answer with them, and all is shown on the public page and in the dashboard
// in a real browser.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { createServer as listen } from "node:net";
import { after, before, test } from "node:test";
import { must, often, settings, signIn, startBrowser, until } from "./harness.mjs";

const hit = "top.__ran=1";
const handlers = [
  "<img src=x onerror=H>",
  "<img src=x onerror='H'>",
  '<img/src="x"/onerror="H">',
  "<IMG SRC=x OnErRoR=H>",
  "<img src=x onerror\n=\nH>",
  '"><img src=x onerror=H>',
  "'><img src=x onerror=H>",
  "--><img src=x onerror=H>",
  "]]><img src=x onerror=H>",
  "</title><img src=x onerror=H>",
  "</textarea><img src=x onerror=H>",
  "</style><img src=x onerror=H>",
  "</script><img src=x onerror=H>",
  "</noscript><img src=x onerror=H>",
  "</template><img src=x onerror=H>",
  "</svg><img src=x onerror=H>",
  "</option></select><img src=x onerror=H>",
  "<image src=x onerror=H>",
  "<svg onload=H>",
  "<svg/onload=H>",
  "<svg><g onload=H></g></svg>",
  "<svg><script>H</script></svg>",
  "<svg><script href=data:,H /></svg>",
  "<svg><animate onbegin=H attributeName=x dur=1s>",
  "<svg><set onbegin=H attributename=x to=y>",
  "<svg><foreignObject><img src=x onerror=H></foreignObject></svg>",
  "<math><mtext><img src=x onerror=H></mtext></math>",
  "<script>H</script>",
  "<SCRIPT>H</SCRIPT>",
  "<script >H</script >",
  "<scr<script>ipt>H</scr</script>ipt>",
  "<script src=data:text/javascript,H></script>",
  "<script type=module>H</script>",
  "</script><script>H</script>",
  "<body onload=H>",
  "<body onpageshow=H>",
  "<iframe srcdoc='<script>H</script>'></iframe>",
  "<iframe src=javascript:H></iframe>",
  "<iframe onload=H></iframe>",
  "<object data=javascript:H></object>",
  "<object data=data:text/html,<script>H</script>></object>",
  "<embed src=javascript:H>",
  "<video src=x onerror=H></video>",
  "<video><source onerror=H></video>",
  "<audio src=x onerror=H>",
  "<details open ontoggle=H>x</details>",
  "<input autofocus onfocus=H>",
  "<button autofocus onfocus=H>x</button>",
  "<a autofocus tabindex=1 onfocus=H>x</a>",
  "<select autofocus onfocus=H></select>",
  "<marquee onstart=H>x</marquee>",
  "<style onload=H></style>",
  "<link rel=stylesheet href=x onerror=H>",
  "<meta http-equiv=refresh content='0;url=javascript:H'>",
  "<base href=javascript:H//>",
  "<form action=javascript:H><button autofocus>x</button></form>",
  '" autofocus onfocus=H x="',
  "' autofocus onfocus=H x='",
  '" onmouseover=H style="position:fixed;inset:0',
  "` autofocus onfocus=H x=`",
  "[click](javascript:H)",
  "[click](JaVaScRiPt:H)",
  "[click](java&#x09;script:H)",
  '![x](x"onerror="H)',
  "[x]: javascript:H\n[x]",
  "<javascript:H>",
  "<a href=javascript:H>click</a>",
  "<a href=&#106;avascript:H>click</a>",
  "{{H}}",
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a text that some would fill in
  "${H}",
  "{{constructor.constructor('H')()}}",
  "\\x3cimg src=x onerror=H\\x3e",
  "\\u003cimg src=x onerror=H\\u003e",
  "&lt;img src=x onerror=H&gt;",
  "%3Cimg%20src=x%20onerror=H%3E",
  "\uFF1Cimg src=x onerror=H\uFF1E",
  "+ADw-script+AD4-H+ADw-/script+AD4-",
];
const payloads = handlers.map((text) => text.replaceAll("H", hit).replaceAll(`src=${hit}`, "src=H"));
const oneLine = payloads.map((text) => text.replaceAll("\n", " "));
const some = (every) => oneLine.filter((_, i) => i % every === 0);

/** Texts one after the other, as many as go into a field. */
function packed(texts, most) {
  const all = [""];
  for (const text of texts) {
    if (all.at(-1).length + text.length + 1 > most) all.push("");
    all[all.length - 1] = `${all.at(-1)} ${text}`.trim();
  }
  return all;
}

let browser;
let state;
let page;
let trouble = [];

before(async () => {
  browser = await startBrowser();
  state = await signIn(browser);
});
after(() => browser?.close());

/** A tab that notes every script of a text that runs, or that the policy kept from running. */
async function tab(storageState) {
  const context = await browser.newContext({ storageState, viewport: { width: 1280, height: 860 } });
  const found = [];
  await context.exposeFunction("__note", (what) => found.push(what));
  await context.addInitScript(() => {
    document.addEventListener("securitypolicyviolation", (event) =>
      window.__note(`policy: ${event.effectiveDirective} ${event.blockedURI} ${event.sample}`),
    );
  });
  const opened = await context.newPage();
  opened.on("dialog", (dialog) => {
    found.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  return { context, page: opened, found };
}

/** What ran on a page: it is read as links are clicked and what takes the focus is given it. */
async function ran({ page, found }, path) {
  await page.evaluate(async () => {
    const settled = (image) =>
      image.complete ||
      new Promise((resolve) => {
        for (const end of ["load", "error"]) image.addEventListener(end, resolve, { once: true });
      });
    await Promise.all([...document.images].map(settled));
    for (let i = 0; i < 2; i++) await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
  });
  for (const frame of page.frames()) {
    const marked = await frame.evaluate(() => top.__ran === 1 || window.__ran === 1).catch(() => false);
    if (marked) found.push(`ran on ${path}`);
  }
  const links = await page.evaluate(() =>
    [...document.querySelectorAll("a[href],form[action],iframe,object,embed,base")].map(
      (e) => e.href || e.action || e.src || e.data || "",
    ),
  );
  for (const link of links) if (/^\s*(javascript|data|vbscript):/i.test(link)) found.push(`${path}: ${link}`);
  return found.splice(0);
}

function strict(policy, what) {
  assert.ok(policy, `${what} has a policy`);
  const scripts = /(?:^|;)\s*(?:script-src|default-src)\s+([^;]*)/.exec(
    /script-src/.test(policy) ? policy.replace(/default-src[^;]*/, "") : policy,
  )[1];
  assert.doesNotMatch(scripts, /unsafe-inline|unsafe-eval|\*|data:|blob:|https?:(?:\s|$)/, `${what}: ${policy}`);
}

async function open(t, path) {
  const answer = await t.page.goto(new URL(path, settings.base).href, { waitUntil: "load" });
  strict(answer.headers()["content-security-policy"], path);
  return ran(t, path);
}

test("there are enough of them, and the watch sees them where they are let through", async () => {
  assert.ok(payloads.length >= 60, `${payloads.length}`);
  const t = await tab();
  const seen = { ran: 0, kept: 0 };
  for (const text of some(3)) {
    for (const policy of ["", "default-src 'none'; img-src 'self'; script-src 'self'"]) {
      await t.page.route("**/hole", (route) =>
        route.fulfill({
          contentType: "text/html",
          headers: policy ? { "content-security-policy": policy } : {},
          body: `<!doctype html><title>x</title><main>${text}</main>`,
        }),
      );
      await t.page.goto(new URL("/hole", settings.base).href, { waitUntil: "load" }).catch(() => {});
      if ((await ran(t, "/hole").catch(() => [])).length > 0) seen[policy ? "kept" : "ran"]++;
      await t.page.unroute("**/hole");
    }
  }
  await t.context.close();
  assert.ok(seen.ran >= 10 && seen.kept >= 10, JSON.stringify(seen));
});

test("on the public page", async () => {
  page = await must("POST", "/status-pages", {
    slug: "corpus",
    title: oneLine[0],
    published: true,
    subscribe_email: true,
    subscribe_webhook: true,
    groups: oneLine.slice(0, 40).map((name, i) => ({
      name,
      components: [
        { name: oneLine[i], description: oneLine[i], rule: "manual", state: "down" },
        ...(oneLine[i + 40]
          ? [{ name: oneLine[i + 40], description: oneLine[i + 40], rule: "manual", state: "up" }]
          : []),
      ],
    })),
  });
  for (const [i, text] of payloads.entries()) {
    const post = await must("POST", `/status-pages/${page.id}/posts`, {
      title: oneLine[i],
      text,
      kind: i % 2 ? "announcement" : "incident",
      component_ids: [1],
    });
    await must("POST", `/status-pages/${page.id}/posts/${post.id}/updates`, {
      state: "monitoring",
      text: `${text}\n\n${text}`,
    });
  }
  const password = settings.password;
  await must("POST", "/status-pages", { slug: "locked-corpus", title: oneLine[0], published: true, password });
  const t = await tab();
  for (const text of packed(oneLine, 120)) {
    await must("PATCH", `/status-pages/${page.id}`, { title: text, description: text });
    trouble.push(...(await open(t, "/s/corpus")));
  }
  await until(
    "the page has all posts",
    async () => (await t.page.locator("article.event").count()) === payloads.length,
  );
  trouble.push(...(await open(t, "/s/corpus/subscribe")));
  for (const text of some(9)) {
    trouble.push(...(await open(t, `/s/corpus?lang=${encodeURIComponent(text)}`)));
    for (const path of ["/s/-/unsubscribe/", "/s/-/confirm/", "/s/", "/s/corpus/", "/s/locked-corpus?lang="])
      trouble.push(...(await open(t, path + encodeURIComponent(text))));
  }
  // A browser draws these, too, where somebody opens one by itself.
  for (const path of [
    "badge.svg",
    "components/1/badge.svg",
    "feed.atom",
    "feed.rss",
    "state.json",
    "api/v2/summary.json",
  ])
    trouble.push(...(await open(t, `/s/corpus/${path}`)));
  // What was wrong is shown again: five tries are free.
  for (const [i, text] of oneLine.slice(0, 5).entries()) {
    const address = ["#e", "#u"][i % 2]; // of mail, of a webhook
    const form = await t.page.goto(new URL("/s/corpus/subscribe", settings.base).href);
    assert.equal(form.status(), 200);
    const send = t.page.locator("form", { has: t.page.locator(address) });
    await send.evaluate((form, value) => {
      form.noValidate = true;
      form.elements.address.type = "text";
      form.elements.address.value = value;
      form.closest("details")?.setAttribute("open", "");
    }, text);
    await Promise.all([t.page.waitForNavigation(), send.locator("button").click()]);
    assert.equal(await t.page.locator(address).inputValue(), text);
    trouble.push(...(await ran(t, "the form again")));
  }
  await t.context.close();
  assert.deepEqual(trouble, []);
});

test("in the dashboard", async () => {
  trouble = [];
  const ids = [];
  const channels = [];
  for (const [i, name] of oneLine.entries()) {
    const made = await must("POST", "/targets", { url: `https://t${i}.example.invalid/`, name, interval_s: 3600 });
    ids.push(made.id);
    const channel = await must("POST", "/channels", {
      name,
      webhook: { url: "https://hooks.example.invalid/", secret: "0123456789abcdef" },
    });
    channels.push(channel.id);
    await must("POST", "/notification-rules", { name, channel_ids: [channel.id] });
    await must("POST", "/keys", { name, scopes: ["read"] });
    await must("POST", "/maintenance-windows", {
      name,
      everything: true,
      starts_at: "2099-01-01T00:00:00",
      duration_s: 60,
    });
  }
  for (const [i, name] of some(9).entries()) {
    const { token } = await must("POST", "/invitations", { role: "viewer" });
    await must("POST", "/invitations:accept", { token, email: `p${i}@example.com`, name, password: "correct horse" });
  }
  const t = await tab(state);
  const shown = (list) => async () => await t.page.locator(list).first().waitFor();
  for (const [path, ready] of [
    ["/", shown("[data-row]")],
    ["/incidents", shown("h1")],
    ["/fleet", shown("h1")],
    ["/maintenance", shown(".window")],
    ["/settings/channels", shown("main li, main tr")],
    ["/settings/rules", shown("main li, main tr")],
    ["/settings/people", shown("main li, main tr")],
    ["/settings/keys", shown("main li, main tr")],
    ["/settings/audit", shown(".audit li")],
    ["/settings/pages", shown("main li, main tr")],
    [`/settings/pages/${page.id}`, shown("form")],
    [`/settings/pages/${page.id}/posts`, shown("main li, main article")],
    [`/settings/pages/${page.id}/share`, shown("img.badge-shown")],
    ...channels.filter((_, i) => i % 7 === 0).map((id) => [`/settings/channels/${id}`, shown(".target-head")]),
  ]) {
    trouble.push(...(await open(t, path)));
    await ready();
    const text = await t.page.locator("main").innerText();
    if (!["/incidents", "/fleet"].includes(path))
      assert.ok(
        oneLine.some((one) => text.includes(one)) || (await t.page.locator("main input, main textarea").count()) > 3,
        `${path} shows what was written`,
      );
    trouble.push(...(await ran(t, path)));
  }
  for (const id of ids.filter((_, i) => i % 7 === 0)) {
    trouble.push(...(await open(t, `/targets/${id}`)));
    await t.page.locator("h1").first().waitFor();
    trouble.push(...(await ran(t, `/targets/${id}`)));
  }
  await t.context.close();
  assert.deepEqual(trouble, []);
});

test("in dialogs, and in what is only looked at before it is done", async () => {
  trouble = [];
  const t = await tab(state);
  const heard = async (what) => trouble.push(...(await ran(t, what)));
  const dialog = t.page.locator("dialog[open]");

  trouble.push(...(await open(t, "/settings/account")));
  for (const name of packed(oneLine, 100).filter((_, i) => i % 7 === 0)) {
    await t.page.getByLabel("Name", { exact: true }).fill(name);
    await t.page.getByRole("button", { name: "Save", exact: true }).first().click();
    await until("the name is stored", async () => (await must("GET", "/users")).items.some((one) => one.name === name));
    await heard("/settings/account");
  }
  for (const path of ["/settings/account", "/settings/people", "/settings/audit"]) {
    trouble.push(...(await open(t, path)));
    await t.page.locator("main .card").first().waitFor();
    await heard(path);
  }

  trouble.push(...(await open(t, "/settings/transfer")));
  const quoted = (text) => `"${text.replaceAll('"', '""')}"`;
  const lines = oneLine.map((name, i) => `https://i${i}.example.invalid/,${quoted(name)},${quoted(name.slice(0, 40))}`);
  await t.page.getByLabel("Or paste it").fill(["url,name,tags", ...lines].join("\n"));
  await t.page.getByRole("button", { name: "See what would change" }).click();
  await t.page.locator("[data-import=judged]").waitFor();
  await heard("an import");

  trouble.push(...(await open(t, "/")));
  await t.page.locator("[data-row]").first().waitFor();
  await t.page.keyboard.press("Control+k");
  for (const word of ["img", "svg", "script", "onfocus"]) {
    await t.page.getByRole("combobox", { name: "Find" }).fill(word);
    await dialog.getByRole("option").first().waitFor();
    await heard(`the palette: ${word}`);
  }

  const posts = (await must("GET", `/status-pages/${page.id}/posts?limit=100`)).items;
  for (const { id } of posts.filter((_, i) => i % 5 === 0)) {
    trouble.push(...(await open(t, `/settings/pages/${page.id}/posts/${id}`)));
    await t.page.locator(".updates li").first().waitFor();
    await heard(`/posts/${id}`);
    await t.page.getByRole("button", { name: "Edit" }).first().click();
    await dialog.getByRole("textbox", { name: "Title" }).waitFor();
    await heard(`/posts/${id}, edited`);
  }
  await t.context.close();
  assert.deepEqual(trouble, []);
});

/** Has targets checked no more: a new row of a log moves those below, and shows nothing before it is stored. */
async function rest(targets) {
  for (const { id } of targets) await must("PATCH", `/targets/${id}`, { interval_s: 3600 });
  for (const { id } of targets)
    await until("its newest check is stored", async () => {
      const [{ results }] = (await must("GET", `/results/latest?ids=${id}&n=1`)).items;
      const [stored] = (await must("GET", `/targets/${id}/results?limit=1`)).items;
      return stored && results[0]?.scheduled_at === stored.scheduled_at;
    });
}

test("what servers answer, in the dashboard", async () => {
  trouble = [];
  const texts = some(4);
  let fine = true;
  const server = createServer((request, response) => {
    const [, what, which] = request.url.split("/");
    const text = texts[Number.parseInt(which, 10)].replace(/[^ -~]/g, "?");
    const headers = { server: text, "content-type": text, "x-said": text, etag: text, via: text, "set-cookie": text };
    if (!fine && what === "first") response.writeHead(302, text, { ...headers, location: `/then/${which}?${text}` });
    else response.writeHead(fine ? 200 : 500, text, headers);
    response.end(text);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const tls = (process.env.HOSTILE_TLS ?? "").split(" ").filter(Boolean);
  assert.ok(tls.length > 0, "HOSTILE_TLS has the addresses of servers whose certificates say such things");
  const base = `http://127.0.0.1:${server.address().port}`;
  const targets = [];
  for (const url of [...texts.map((_, i) => `${base}/first/${i}`), ...tls])
    targets.push(
      await must("POST", "/targets", {
        url,
        ...often,
        assertions: [{ source: "status", op: "in", value: "200" }],
      }),
    );
  const are = (state, these) => async () => {
    const items = new Map((await must("GET", "/live/snapshot")).items.map((item) => [item.id, item.state]));
    return these.every(({ id }) => items.get(id) === state);
  };
  await until("those that answer well are up", are("up", targets.slice(0, texts.length)), { everyMs: 500 });
  fine = false;
  await until("all are down", are("down", targets), { everyMs: 500 });
  await rest(targets);
  const incidents = await until("their incidents", async () => (await must("GET", "/incidents?state=open")).items);
  assert.ok(incidents.length > 0);
  for (const [i, { id }] of incidents.entries())
    for (const text of packed(oneLine, 1_000)) if (i < 3) await must("POST", `/incidents/${id}/notes`, { text });

  const t = await tab(state);
  const now = new Date().toISOString();
  const drawn = () => t.page.waitForFunction(() => !document.querySelector("main .skeleton"));
  const visit = async (path, ready) => {
    trouble.push(...(await open(t, path)));
    await t.page.locator(ready).first().waitFor();
    trouble.push(...(await ran(t, path)));
  };
  await visit("/incidents", ".incident");
  for (const { id } of incidents.slice(0, 8)) {
    await visit(`/incidents/${id}`, "h1");
    await drawn(); // what changed is asked for by itself
    trouble.push(...(await ran(t, `/incidents/${id}`)));
  }
  for (const { id } of targets.filter((_, i) => i % 4 === 0 || i >= texts.length)) {
    await visit(`/targets/${id}`, ".log-row");
    await t.page.locator(".log-row").first().click();
    await t.page.locator(".waterfall").first().waitFor();
    await drawn();
    trouble.push(...(await ran(t, `/targets/${id}, a check opened`)));
  }
  await visit(`/targets/${targets[0].id}?at=${now}`, ".verdict");
  await visit(`/targets/${targets[0].id}/rule`, "form");
  await visit(`/reports/${now.slice(0, 7)}`, "table");
  await visit("/fleet", "table");
  const { results } = (await must("GET", `/results/latest?ids=${targets[0].id}&n=1`)).items[0];
  const check = `region=${results[0].region}&scheduled_at=${results[0].scheduled_at}`;
  const evidence = await must("GET", `/targets/${targets[0].id}/evidence?${check}`);
  assert.ok(JSON.stringify(evidence).includes("__ran"), "the evidence has what was answered");
  await t.context.close();
  for (const { id } of targets) await must("DELETE", `/targets/${id}`);
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  assert.deepEqual(trouble, []);
});

test("what jobs, other servers, other browsers and probers say, in the dashboard", async () => {
  trouble = [];
  const servers = [];
  const targets = [];
  // Who knows its address can write what goes with a ping, without an account.
  for (const [i, body] of packed(payloads, 700).entries()) {
    const job = { kind: "heartbeat", name: `job ${i}`, heartbeat: { period_s: 300, grace_s: 60 } };
    const made = await must("POST", "/targets", job);
    const { path } = await must("GET", `/targets/${made.id}/heartbeat`);
    const answer = await fetch(new URL(`${path}/fail`, settings.base), { method: "POST", body });
    assert.equal(answer.status, 200);
    targets.push(made);
  }
  // What a server says first, and what should have been there instead.
  for (const text of packed(oneLine, 900)) {
    const server = listen((socket) => socket.on("error", () => {}).end(text));
    await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
    servers.push(server);
    targets.push(
      await must("POST", "/targets", {
        url: `tcp://127.0.0.1:${server.address().port}`,
        ...often,
        assertions: [{ source: "received", op: "equals", value: `other than ${text}` }],
      }),
    );
  }
  await until(
    "all are down",
    async () => {
      const items = new Map((await must("GET", "/live/snapshot")).items.map((item) => [item.id, item.state]));
      return targets.every(({ id }) => items.get(id) === "down");
    },
    { everyMs: 500 },
  );
  const stored = async ({ id }) => (await must("GET", `/targets/${id}/results?limit=1`)).items.length > 0;
  for (const one of targets) await until("it is stored", () => stored(one));
  await rest(targets.filter(({ kind }) => kind !== "heartbeat"));

  const t = await tab(state);
  const says = async (what) => assert.ok((await t.page.locator(what).first().innerText()).includes("__ran"), what);
  for (const { id, kind } of targets) {
    const path = `/targets/${id}`;
    trouble.push(...(await open(t, path)));
    await t.page.locator(".log-row").first().click();
    await t.page.locator(".detail .facts").first().waitFor();
    if (kind === "heartbeat") {
      await t.page.locator("details.excerpt summary").click();
      await says("details.excerpt pre");
    } else {
      await says(".log .detail");
      await t.page.getByRole("button", { name: "Edit" }).first().click();
      const value = t.page.locator("dialog[open] :is(input, textarea)");
      await until("the assertion in its form", () =>
        value.evaluateAll((all) => all.some((one) => one.value.includes("__ran"))),
      );
    }
    await t.page.waitForFunction(() => !document.querySelector("main .skeleton"));
    trouble.push(...(await ran(t, `${path}, a check opened`)));
  }
  trouble.push(...(await open(t, "/fleet")));
  await t.page.locator("main table").first().waitFor();
  if (process.env.HOSTILE_PROBER) {
    await t.page.getByText(process.env.HOSTILE_PROBER, { exact: false }).first().waitFor();
    trouble.push(...(await ran(t, "/fleet")));
  }

  // What browsers call themselves, and people their passkeys.
  for (const name of packed(oneLine, 290)) {
    const answer = await fetch(new URL("/api/v1/session", settings.base), {
      method: "POST",
      headers: { "content-type": "application/json", "user-agent": name.replace(/[^ -~]/g, "?") },
      body: JSON.stringify({ email: settings.email, password: settings.password }),
    });
    assert.equal(answer.status, 200);
  }
  const path = "/settings/account";
  trouble.push(...(await open(t, path)));
  await t.page.locator("[data-session]").first().waitFor();
  assert.ok(
    await t.page.locator("[data-session] .entry-name").evaluateAll((all) => all.some((b) => b.title.includes("__ran"))),
  );
  trouble.push(...(await ran(t, `${path}, sessions`)));
  const cdp = await t.context.newCDPSession(t.page);
  await cdp.send("WebAuthn.enable");
  await cdp.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  const [first, ...names] = packed(oneLine, 120);
  const dialog = t.page.locator("dialog[open]");
  await t.page.getByRole("button", { name: "Register a passkey" }).click();
  await dialog.getByLabel("Name").fill(first);
  await dialog.getByLabel("Your password").fill(settings.password);
  await t.page.keyboard.press("Enter");
  const passkey = t.page.locator("[data-passkey]");
  for (const [i, name] of [first, ...names].entries()) {
    if (i > 0) {
      await t.page.getByRole("button", { name: /^Actions for/ }).click();
      await t.page.getByRole("menuitem", { name: "Rename" }).click();
      await dialog.getByLabel("Name").fill(name);
      await t.page.keyboard.press("Enter");
    }
    await until("it is called so", async () => (await passkey.locator(".entry-name").textContent()) === name);
    trouble.push(...(await ran(t, `${path}, a passkey`)));
  }
  trouble.push(...(await open(t, "/settings/audit")));
  await t.page.locator(".audit li").first().waitFor();
  trouble.push(...(await ran(t, "/settings/audit")));
  await t.context.close();
  for (const { id } of targets) await must("DELETE", `/targets/${id}`);
  for (const server of servers) await new Promise((resolve) => server.close(resolve));
  assert.deepEqual(trouble, []);
});
