// A stand-in for the API with pretended data, for working on the pages without
// the servers:  npm run build && npm run mock  (then open the printed address).
//
//   PORT=8080       where it listens, on 127.0.0.1
//   MOCK_EMPTY=1    starts with no account and no targets (prints a set-up link)
//   MOCK_EXTRA=2000 adds that many targets
//   MOCK_OUTAGE=1   pretends that ClickHouse went away three minutes ago
//
// It serves dist/ under the same content security policy as the real server.
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { Alerts } from "./alerts.mjs";
import { knownOf } from "./known.mjs";
import { Pages } from "./pages.mjs";
import { accept } from "./socket.mjs";
import { iso, World } from "./world.mjs";

const port = Number(process.env.PORT ?? 8080);
const dist = fileURLToPath(new URL("../dist/", import.meta.url));
const token = "mock-token";
let owner = process.env.MOCK_EMPTY
  ? null
  : { id: 1, email: "owner@example.com", name: "Owner", role: "owner", version: 1 };
const outage = process.env.MOCK_OUTAGE ? iso(Date.now() - 190_000) : null;
const world = new World({ extra: Number(process.env.MOCK_EXTRA ?? 0), empty: Boolean(process.env.MOCK_EMPTY) });
const pages = new Pages(world);
const alerts = new Alerts(world, pages);
const letters = Array.from({ length: outage ? 230 : 0 }, (_, i) => letter(i + 1));
const types = {
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
  ".html": "text/html; charset=utf-8",
};

const server = createServer(async (request, response) => {
  const url = new URL(request.url, "http://localhost");
  if (!url.pathname.startsWith("/api/")) return serveFile(url.pathname, response);
  let text = "";
  for await (const chunk of request) text += chunk;
  const answer = route(request.method, url, text ? JSON.parse(text) : {}, signedIn(request));
  const problem = answer.status >= 400;
  response.writeHead(answer.status, {
    "content-type": problem ? "application/problem+json" : "application/json",
    "x-request-id": "mock-request",
    ...answer.headers,
  });
  response.end(answer.body === undefined ? "" : JSON.stringify(answer.body));
});

const signedIn = (request) =>
  /pf_session=1/.test(request.headers.cookie ?? "") ||
  request.headers.authorization !== undefined ||
  (owner !== null && !process.env.MOCK_EMPTY);
const ok = (body, status = 200, headers = {}) => ({ status, body, headers });
/** An answer about the past: in an outage the copy of one. */
const past = (body) => ok(outage ? { stale_since: outage, ...body } : body);
const cookie = { "set-cookie": "pf_session=1; HttpOnly; SameSite=Lax; Path=/" };
function problem(status, title, errors, more = {}) {
  return {
    status,
    body: { type: "about:blank", title, status, detail: title, request_id: "mock-request", errors, ...more },
  };
}

function route(method, url, body, allowed) {
  const path = url.pathname.slice("/api/v1".length);
  const call = `${method} ${path}`;
  const span = () => [
    Date.parse(url.searchParams.get("from") ?? "") || Date.now() - 86_400_000,
    Date.parse(url.searchParams.get("to") ?? "") || Date.now(),
  ];
  if (call === "POST /setup") {
    if (owner) return problem(409, "the owner's account exists already: sign in");
    if (body.token !== token) return problem(403, "the set-up token is wrong");
    if (String(body.password).length < 8)
      return problem(422, "invalid", [
        { pointer: "/password", code: "too_short", message: "a password has at least 8 characters" },
      ]);
    owner = { id: 1, email: body.email, name: body.name, role: "owner", version: 1 };
    return ok({ user: owner, role: "owner", setup_needed: false }, 201, cookie);
  }
  if (call === "POST /session")
    return body.password === "wrong"
      ? problem(401, "the e-mail address or the password is wrong")
      : ok({ user: owner, role: "owner", setup_needed: false }, 200, cookie);
  if (!allowed) return problem(401, "sign in first", undefined, { setup_needed: owner === null });
  if (call === "GET /session") return ok({ user: owner, role: "owner", setup_needed: false });
  if (call === "DELETE /session") return ok(undefined, 204);
  const told = alerts.route(method, path, url.searchParams, body) ?? pages.route(method, path, body);
  if (told) return told[0] >= 400 ? problem(...told) : ok(told[1], told[0]);
  if (call === "GET /live/snapshot") return ok(world.snapshot());
  if (call === "GET /live/overview") return ok(world.overview(Number(url.searchParams.get("first") ?? 40)));
  if (call === "GET /targets:figures") return past(figures(url.searchParams));
  if (call === "GET /results/latest") return past(latest(url.searchParams));
  if (call === "GET /fleet") return ok(fleet());
  if (call === "GET /dead-letters") {
    const from = Number(url.searchParams.get("cursor") ?? 0);
    const to = from + Number(url.searchParams.get("limit") ?? 100);
    return ok({ items: letters.slice(from, to), next_cursor: to < letters.length ? String(to) : null });
  }
  if (call === "POST /dead-letters:replay") {
    const asked = letters.filter((one) => body.ids.includes(one.id));
    for (const one of asked) one.replay = "asked";
    return ok({ asked: asked.length, gone: 0, unreadable: 0 });
  }
  const [, drained, wish] = /^\/regions\/([^/]+)\/probers\/.*:(drain|resume)$/.exec(path) ?? [];
  if (wish) return ok(drain(drained, wish));
  if (call === "GET /regions")
    return ok({
      items: world.regions.map((region) => ({ region, state: "active", since: iso(Date.now() - 86_400_000) })),
      next_cursor: null,
    });
  if (call === "GET /ledger") return past(ledger(...span()));
  if (call === "GET /targets")
    return ok({ items: [...world.targets.values()].map((entry) => entry.target), next_cursor: null });
  if (call === "POST /targets")
    return (
      refuse(body) ?? ok(world.add({ ...body, fresh: true }, body.url.includes("/status/5") ? "failing" : "fast"), 201)
    );
  if (call === "POST /targets:batch") {
    const answer = { dry_run: body.dry_run === true, changed: [], unchanged: [], refused: [], before: [] };
    const { add_tags = [], remove_tags = [], ...same } = body.set;
    for (const id of body.ids) {
      const before = world.targets.get(id)?.target;
      const why = before ? refuse({ url: before.url, ...same }) : problem(404, "there is no such target");
      if (why) {
        answer.refused.push({ id, problem: why.body });
        continue;
      }
      const tags = before.tags ?? [];
      const left = tags.filter((tag) => !remove_tags.includes(tag));
      const come = add_tags.filter((tag) => !left.includes(tag));
      const gone = tags.filter((tag) => remove_tags.includes(tag));
      const others = Object.keys(same).filter(
        (member) => JSON.stringify(before[member]) !== JSON.stringify(same[member]),
      );
      const was = {
        ...Object.fromEntries(others.map((member) => [member, before[member] ?? null])),
        ...(gone.length > 0 && { add_tags: gone }),
        ...(come.length > 0 && { remove_tags: come }),
      };
      if (Object.keys(was).length === 0) {
        answer.unchanged.push(id);
        continue;
      }
      answer.before.unshift({ ids: [id], set: was });
      const set = { ...same, tags: [...left, ...come].sort() };
      const { spec_version } = answer.dry_run ? before : world.update(id, set);
      answer.changed.push({ id, spec_version });
    }
    return ok(answer);
  }
  const [, id, rest = ""] = /^\/targets\/(\d+)\/?(\w*)$/.exec(path) ?? [];
  const entry = world.targets.get(Number(id));
  if (!entry) return problem(404, "there is no such target");
  switch (`${method} ${rest}`) {
    case "GET ":
      return ok(entry.target);
    case "PATCH ":
      return refuse({ url: entry.target.url, ...body }) ?? ok(world.update(entry.target.id, body));
    case "DELETE ":
      world.remove(entry.target.id);
      return ok(undefined, 204);
    case "GET results": {
      const limit = Number(url.searchParams.get("limit") ?? 50);
      const to = Number(url.searchParams.get("cursor")) || Math.min(Date.now(), span()[1]);
      const rows = world
        .results(
          entry,
          Math.max(Date.parse(url.searchParams.get("from") ?? "") || 0, to - limit * entry.target.interval_s * 1000),
          to,
        )
        .slice(0, limit);
      return past({
        items: rows,
        next_cursor: rows.length === limit ? String(Date.parse(rows.at(-1).scheduled_at)) : null,
      });
    }
    case "GET known": {
      const at = Date.parse(url.searchParams.get("at") ?? "");
      if (Number.isNaN(at)) return problem(422, "this is not an instant");
      return at > Date.now() ? problem(422, "this is in the future") : ok(knownOf(world, entry, at));
    }
    case "GET matrix":
      return past(alerts.matrix(entry, ...span(), Number(url.searchParams.get("step_s"))));
    case "GET histogram":
      return past(alerts.histogram(entry, ...span()));
    case "GET uptime":
      if (url.searchParams.get("by") === "day")
        return past(alerts.days(entry, ...span(), url.searchParams.get("zone") ?? "UTC"));
      return past(uptime(entry, ...span()));
    case "GET series":
      return past(series(entry, ...span(), Number(url.searchParams.get("step_s"))));
  }
  return problem(404, "there is no such page");
}

function refuse(input) {
  const errors = [];
  const wrong = (pointer, code, message) => errors.push({ pointer, code, message });
  if (!/^https?:/.test(input.url ?? "")) wrong("/url", "url_scheme", "only http:// and https:// urls can be checked");
  else if (/\/\/(10\.|localhost)/.test(input.url))
    wrong("/url", "private_address", "this is a private or special address, and no prober may dial it");
  if (input.interval_s !== undefined && (input.interval_s < 10 || input.interval_s > 86_400))
    wrong("/interval_s", "interval_out_of_range", "an interval is from 10 to 86400 seconds");
  if (input.timeout_ms !== undefined && (input.timeout_ms < 100 || input.timeout_ms > 30_000))
    wrong("/timeout_ms", "timeout_out_of_range", "a timeout is from 100 to 30000 milliseconds");
  if ((input.name ?? "").length > 120) wrong("/name", "too_long", "a name has at most 120 characters");
  (input.expect?.status ?? []).forEach((range, i) => {
    if (!/^[1-5]\d\d(-[1-5]\d\d)?$/.test(range))
      wrong(
        `/expect/status/${i}`,
        "invalid_status_range",
        "want a code or a range of codes from 100 to 599, such as 204 or 200-399",
      );
  });
  return errors.length ? problem(422, "the target is not valid", errors) : null;
}

function latest(params) {
  const n = Number(params.get("n") ?? 90);
  const items = [];
  for (const id of params.get("ids").split(",").map(Number)) {
    const entry = world.targets.get(id);
    if (entry)
      items.push({
        target_id: id,
        results: world.results(entry, Date.now() - n * entry.target.interval_s * 1000, Date.now()),
      });
  }
  return { items };
}

function figures(params) {
  const now = Date.now();
  const items = params
    .get("ids")
    .split(",")
    .flatMap((id) => {
      const entry = world.targets.get(Number(id));
      if (!entry) return [];
      const last = (days) => {
        const { uptime: share, coverage } = uptime(entry, now - days * 86_400_000, now);
        return { uptime: share, coverage };
      };
      const secure = entry.target.url.startsWith("https:");
      return [
        {
          target_id: entry.target.id,
          last_24h: last(1),
          last_30d: last(30),
          cert_not_after: secure ? iso(now + ((entry.target.id * 17) % 90) * 86_400_000) : null,
        },
      ];
    });
  return { items };
}

function uptime(entry, from, to) {
  const n = { up: 0, degraded: 0, down: 0, unknown: 0, missed: 0 };
  const rows = world.results(entry, from, to);
  for (const row of rows) n[row.status]++;
  const measured = n.up + n.down;
  return {
    from: iso(from),
    to: iso(to),
    ...n,
    planned: rows.length,
    uptime: measured ? n.up / measured : null,
    coverage: rows.length ? measured / rows.length : null,
  };
}

function series(entry, from, to, stepS) {
  const phases = ["dns_us", "connect_us", "tls_us", "wait_us", "transfer_us"];
  const out = { tier: "raw", step_s: stepS, partial: true, x: [] };
  for (const key of ["count", "up", "degraded", "down", "unknown", "missed", "p50_us", "p95_us", "p99_us", ...phases])
    out[key] = [];
  const now = Math.min(to, Date.now());
  for (let at = Math.ceil(from / 1000 / stepS) * stepS; at * 1000 < now; at += stepS) {
    const rows = world.results(entry, at * 1000, Math.min(now, (at + stepS) * 1000)).slice(0, 40);
    if (rows.length === 0) continue;
    const totals = rows
      .map((r) => r.total_us)
      .filter(Boolean)
      .sort((a, b) => a - b);
    const quantile = (q) => totals[Math.min(totals.length - 1, Math.floor(q * totals.length))] ?? null;
    out.x.push(at);
    out.count.push(rows.length);
    for (const status of ["up", "degraded", "down", "unknown", "missed"])
      out[status].push(rows.filter((r) => r.status === status).length);
    out.p50_us.push(quantile(0.5));
    out.p95_us.push(quantile(0.95));
    out.p99_us.push(quantile(0.99));
    for (const key of phases)
      out[key].push(totals.length ? rows.reduce((sum, r) => sum + r[key], 0) / totals.length : null);
  }
  return out;
}

const drains = new Map(); // since when the prober of a region is to drain

/** Has the prober of a region drain, or not any more. */
function drain(region, word) {
  if (word === "resume") drains.delete(region);
  else if (!drains.has(region)) drains.set(region, Date.now());
  return fleet().regions.find((one) => one.region === region)?.probers[0];
}

function fleet() {
  const now = Date.now();
  const spool = outage
    ? { spooled: 1204, spool_first: outage, spool_last: iso(now) }
    : { spooled: 0, spool_first: null, spool_last: null };
  const prober = (region) => ({
    name: `${region}-1`,
    version: "0.1.0",
    state: drains.has(region) ? (now - drains.get(region) < 4_000 ? "draining" : "drained") : "",
    drain_asked_at: drains.has(region) ? iso(drains.get(region)) : null,
    drain_asked_by: drains.has(region) ? "user:1" : "",
    heartbeat_at: iso(now - 900),
    age_s: 0.9,
    in_flight: 3,
    waiting: 0,
    lateness_p50_ms: 4,
    lateness_p99_ms: 38,
    clickhouse: outage ? "down" : "ok",
    breaker: outage ? "open" : "closed",
    ...spool,
    allow_cidrs: [],
    spool_bytes: outage ? 204_800 : 0,
    clock_offset_ms: -3,
    canaries: { state: "good", answered: 5, all: 5 },
    started_at: iso(now - 86_400_000),
    last_exit: { cause: "drained", signal: "", at: iso(now - 86_410_000) },
  });
  return {
    redis: { version: "7.0.15", embedded: false, durable: true, backlog: 124, dead_letters: letters.length },
    clickhouse: { ok: !outage, down_since: outage },
    database: { engine: "sqlite", ok: true, down_since: null, latency_ms: 0.082 },
    publisher: { leader: "publisher-1", last_tick: iso(now - 400) },
    outside: outage ? [{ region: "push", ...spool }] : [],
    regions: world.regions.map((region) => ({
      region,
      live: true,
      pending: 12,
      lag_s: 0.4,
      dead_letters: letters.filter((one) => one.region === region).length,
      ...spool,
      probers: [prober(region)],
    })),
  };
}

function letter(n) {
  const at = Date.now() - (300 - n) * 1000;
  return {
    id: `${n}-0`,
    kind: n % 3 ? "row" : "check",
    region: world.regions[n % world.regions.length],
    entry_id: `${at}-${n}`,
    target_id: (n % 12) + 1,
    scheduled_at: iso(at - 20_000),
    reason: n % 3 ? "refused for good: no such column" : "three probers died with it",
    prober: "eu-central-1",
    deliveries: 3,
    at: iso(at),
    replayable: true,
    replay: "",
    asked_at: null,
    tries: 0,
  };
}

function ledger(from, to) {
  const items = world.regions.map((region) => {
    const line = {
      region,
      planned: 0,
      up: 0,
      degraded: 0,
      down: 0,
      unknown: 0,
      missed: 0,
      in_flight: 0,
      spooled: 0,
      unexplained: 0,
      reasons: [],
    };
    for (const entry of world.targets.values()) {
      for (const row of world.results(entry, Math.max(from, to - 3_600_000), to)) {
        if (row.region !== region) continue;
        line.planned++;
        line[row.status]++;
        if (row.status !== "unknown" && row.status !== "missed") continue;
        const stated = line.reasons.find((one) => one.status === row.status && one.reason === row.reason);
        if (stated) stated.count++;
        else line.reasons.push({ status: row.status, reason: row.reason, count: 1 });
      }
    }
    return line;
  });
  const due = items.reduce((n, line) => n + line.planned, 0);
  return { items, publisher: { due, published: due, missed: 0 }, from: iso(from), to: iso(to) };
}

async function serveFile(path, response) {
  const wanted = join(dist, normalize(path));
  const file = wanted.startsWith(dist) && extname(path) ? wanted : join(dist, "index.html");
  try {
    const body = await readFile(file);
    response.writeHead(200, {
      "content-type": types[extname(file)] ?? "application/octet-stream",
      "content-security-policy":
        "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; object-src 'none'; base-uri 'none'; frame-ancestors 'none'",
    });
    response.end(body);
  } catch {
    response.writeHead(404).end();
  }
}

server.on("upgrade", (request, socket) => {
  if (!signedIn(request)) return socket.end("HTTP/1.1 401 Unauthorized\r\n\r\n");
  let send = null;
  const connection = accept(request, socket, "probefleet.v1.json", {
    onText(text) {
      const message = JSON.parse(text);
      if (message.t === "unsub") world.subscribers.delete(send);
      if (message.t !== "sub") return;
      const from = message.from;
      const oldest = world.ring[0]?.from_seq ?? world.seq;
      const recovered = from?.epoch === world.epoch && from.seq >= oldest && from.seq <= world.seq;
      connection.send({ t: "ok", id: message.id, ch: message.ch, epoch: world.epoch, seq: world.seq, recovered });
      if (recovered) for (const frame of world.ring) if (frame.seq > from.seq) connection.send(frame);
      world.subscribers.delete(send);
      send = connection.send;
      world.subscribers.add(send);
    },
    onClose() {
      clearInterval(ping);
      world.subscribers.delete(send);
    },
  });
  connection.send({ t: "welcome", epoch: world.epoch, server_time: iso(Date.now()) });
  const ping = setInterval(() => connection.send({ t: "ping" }), 15_000);
});

server.listen(port, "127.0.0.1", () => {
  console.log(`mock: http://127.0.0.1:${port}/${owner ? "" : `setup?token=${token}`}`);
});
