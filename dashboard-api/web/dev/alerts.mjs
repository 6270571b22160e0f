// Pretended incidents, maintenance, channels and rules, and a target's figures: kept in
// memory, so that the pages can be worked on. It judges nothing but what is missing.
import { changesOf } from "./changes.mjs";
import { iso } from "./world.mjs";

const MINUTE = 60_000;

export class Alerts {
  constructor(world, pages) {
    this.world = world;
    this.pages = pages;
    this.next = 100;
    const now = Date.now();
    const targets = [...world.targets.values()].map((entry) => entry.target);
    const [a, b] = [targets[4], targets[6]];
    this.incidents = !a
      ? []
      : [
          incident(1, a, { began: now - 42 * MINUTE, group: 1 }),
          incident(2, b, { began: now - 41 * MINUTE, group: 1, acked: now - 30 * MINUTE }),
          incident(3, null, { began: now - 41 * MINUTE, group: 1, kind: "group", name: "2 targets: host example.com" }),
          incident(4, null, { began: now - 9 * MINUTE, kind: "region", name: "Region us-east", severity: "degraded" }),
          ...Array.from({ length: 40 }, (_, i) =>
            incident(5 + i, targets[i % targets.length], {
              began: now - (i + 2) * 400 * MINUTE,
              ended: now - (i + 2) * 400 * MINUTE + (i + 1) * MINUTE,
              severity: i % 4 ? "down" : "degraded",
            }),
          ),
        ];
    this.windows = [];
    this.channels = [];
    this.rules = [];
    this.deliveries = [];
  }

  /** What is answered, as [status, body], or null when this is none of its paths. */
  route(method, path, params, body) {
    const now = Date.now();
    const page = (items) => [200, { items, next_cursor: null }];
    if (method === "GET" && path === "/incidents") return this.list(params);
    const one = /^\/incidents\/(\d+)(:acknowledge|\/notes|\/changes)?$/.exec(path);
    if (one) {
      const found = this.incidents.find((incident) => incident.id === Number(one[1]));
      if (!found) return [404, "there is no such incident"];
      const say = (kind, text) => found.timeline.push({ id: this.next++, kind, at: iso(now), author: "user:1", text });
      if (one[2] === "/changes") return [200, changesOf(found)];
      if (one[2] === "/notes") {
        if (!body.text)
          return [422, "this is needed", [{ pointer: "/text", code: "required", message: "this is needed" }]];
        say("note", body.text);
        return [201, found.timeline.at(-1)];
      }
      if (one[2]) {
        Object.assign(found, { state: "acknowledged", acknowledged_at: iso(now), acknowledged_by: "user:1" });
        say("acknowledged", body.text ?? "");
      }
      return [200, { ...aged(found), public_updates: this.pages.updatesOf(found.id) }];
    }
    if (path === "/maintenance-windows") {
      if (method === "GET") return page(this.windows);
      const from = Date.parse(`${body.starts_at}Z`);
      this.windows.push({
        id: this.next++,
        everything: false,
        target_id: null,
        tags: [],
        rrule: "",
        ...body,
        active: from <= now,
        next_from: iso(from),
        next_to: iso(from + body.duration_s * 1000),
        ended_at: null,
        created_at: iso(now),
      });
      return [201, this.windows.at(-1)];
    }
    const window = /^\/maintenance-windows\/(\d+)$/.exec(path);
    if (window && method === "DELETE") return this.drop(this.windows, window[1]);
    const test = /^\/channels\/(\d+)(:test|\/deliveries)$/.exec(path);
    if (test?.[2] === "/deliveries") return page(this.deliveries.filter((one) => one.channel === Number(test[1])));
    if (test) return this.test(Number(test[1]));
    if (path === "/notification-rules:match")
      return [200, { items: this.rules.map((rule) => ({ rule, tells: ["down", "degraded"] })) }];
    for (const [name, all] of [
      ["channels", this.channels],
      ["notification-rules", this.rules],
    ]) {
      if (path === `/${name}` && method === "GET") return page(all);
      if (path === `/${name}`) {
        const kind = Object.keys(body).find((key) => typeof body[key] === "object" && !Array.isArray(body[key]));
        const stamp = { id: this.next++, enabled: true, version: 1, created_at: iso(now), updated_at: iso(now) };
        all.push({ ...stamp, ...(name === "channels" && { kind, to: "example.com", readable: true }), ...body });
        return [201, all.at(-1)];
      }
      const [, id] = new RegExp(`^/${name}/(\\d+)$`).exec(path) ?? [];
      const found = all.find((item) => item.id === Number(id));
      if (found && method === "PATCH") {
        Object.assign(found, body, { version: found.version + 1, updated_at: iso(now) });
        return [200, found];
      }
      if (found && method === "DELETE") return this.drop(all, id);
      if (found) return [200, found];
    }
    return null;
  }

  list(params) {
    const wanted = (name) => (params.get(name) ? Number(params.get(name)) : null);
    const state = params.get("state");
    const found = this.incidents.filter(
      (one) =>
        (!state || one.state === state || (state === "open" && one.state === "acknowledged")) &&
        (wanted("target_id") === null || one.target_id === wanted("target_id")) &&
        (wanted("group_id") === null || one.group_id === wanted("group_id")),
    );
    const from = Number(params.get("cursor") ?? 0);
    const limit = Number(params.get("limit") ?? 100);
    const items = found.slice(from, from + limit).map(aged);
    return [200, { items, next_cursor: from + limit < found.length ? String(from + limit) : null }];
  }

  drop(all, id) {
    const at = all.findIndex((one) => one.id === Number(id));
    if (at < 0) return [404, "there is nothing with this id"];
    all.splice(at, 1);
    return [204];
  }

  test(channel) {
    this.deliveries.unshift({
      id: this.next++,
      channel,
      incident_id: null,
      event: "test",
      key: `test/${this.next}`,
      attempt: 1,
      at: iso(Date.now()),
      took_ms: 84,
      outcome: "delivered",
      status: 200,
      excerpt: "ok",
    });
    const exchange = { request: "POST https://example.com/[secret]", sent: '{"text": "a test"}', answer: "ok" };
    return [
      200,
      { delivered: true, reason: "", status: 200, took_ms: 84, exchanges: [{ ...exchange, status: 200, took_ms: 84 }] },
    ];
  }

  /** What regions saw in steps. */
  matrix(entry, from, to, stepS) {
    const x = [];
    for (let at = from / 1000; at < to / 1000; at += stepS) x.push(at);
    const items = this.world.regions.map((region) => {
      const row = { region, up: [], degraded: [], down: [], unknown: [], missed: [], p50_us: [], p95_us: [] };
      for (const at of x) {
        const slot = Math.floor(at / entry.target.interval_s) * entry.target.interval_s * 1000;
        const seen = this.world.result(entry, slot, region);
        for (const status of ["up", "degraded", "down", "unknown", "missed"])
          row[status].push(seen.status === status && at * 1000 < Date.now() ? 6 : 0);
        row.p50_us.push(seen.total_us || null);
        row.p95_us.push(seen.total_us ? seen.total_us * 2 : null);
      }
      return row;
    });
    return { tier: "raw", step_s: stepS, x, items };
  }

  histogram(entry, from, to) {
    const rows = this.world.results(entry, Math.max(from, to - 60 * MINUTE), to).filter((row) => row.status === "up");
    const at = (us) => Math.floor(4 * Math.log2(us));
    const low = Math.min(...rows.map((row) => at(row.total_us)));
    const high = Math.max(...rows.map((row) => at(row.total_us)));
    const buckets = [];
    for (let i = low; i <= high; i++) {
      const count = rows.filter((row) => at(row.total_us) === i).length;
      buckets.push({ from_us: Math.round(2 ** (i / 4)), to_us: Math.round(2 ** ((i + 1) / 4)), count });
    }
    return { from: iso(from), to: iso(to), count: rows.length, buckets };
  }

  days(entry, from, to, zone) {
    const periods = [];
    for (let at = Math.floor(from / 86_400_000) * 86_400_000; at < to; at += 86_400_000) {
      const age = Math.round((to - at) / 86_400_000);
      const odd = (entry.target.id * 31 + age * 17) % 41;
      const state = age > 200 ? "no_data" : odd === 0 ? "down" : odd < 3 ? "degraded" : odd === 5 ? "unknown" : "up";
      const downtime_minutes = state === "down" ? [2, 12, 190][age % 3] : 0;
      const uptime = state === "no_data" ? null : 1 - downtime_minutes / 1440;
      const folded = {
        uptime,
        coverage: uptime === null ? null : 0.999,
        downtime_minutes,
        checks: uptime === null ? 0 : 8640,
      };
      periods.push({
        name: iso(at).slice(0, 10),
        from: iso(at),
        to: iso(at + 86_400_000),
        partial: false,
        state,
        folded,
      });
    }
    return { from: iso(from), to: iso(to), zone, periods };
  }
}

/** How long it has gone on is told anew each time. */
const aged = (one) => ({
  ...one,
  duration_s: Math.round(
    ((one.resolved_at ? Date.parse(one.resolved_at) : Date.now()) - Date.parse(one.began_at)) / 1000,
  ),
});

function incident(id, target, { began, ended, acked, group, kind, name, severity = "down" }) {
  const event = (n, kind, at, text, author = "") => ({ id: id * 10 + n, kind, at: iso(at), author, text });
  const timeline = [
    event(1, "opened", began + 11_000, "Down in 2 of 2 regions."),
    event(2, "notified", began + 12_000, "On-call (pagerduty): opened"),
    event(3, "notified", began + 13_000, "Team mail (email): opened, not delivered: connection refused"),
  ];
  if (acked) timeline.push(event(4, "acknowledged", acked, "", "user:1"));
  if (ended) timeline.push(event(5, "resolved", ended, "Up again in every region."));
  return {
    id,
    target_id: target?.id ?? 0,
    target: { name: target?.name ?? name, url: target?.url ?? "", kind: target?.kind ?? kind, tags: [] },
    severity,
    state: ended ? "resolved" : acked ? "acknowledged" : "open",
    began_at: iso(began),
    opened_at: iso(began + 11_000),
    acknowledged_at: acked ? iso(acked) : null,
    acknowledged_by: acked ? "user:1" : "",
    resolved_at: ended ? iso(ended) : null,
    explanation: target ? "Down in 2 of 2 regions: eu-central status 503, us-east status 503." : `${name} went wrong.`,
    failure: "status_code",
    http_status: 503,
    regions: target ? ["eu-central", "us-east"] : [],
    group_id: group ?? null,
    timeline,
    confirmations: [],
  };
}
