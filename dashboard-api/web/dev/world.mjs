// A pretended fleet: targets with a character each, results at their slots, and
// the live feed's numbering. It exists to look at pages, not to test the server.

const DAY = 86_400_000;
export const iso = (ms) => new Date(ms).toISOString();

// What each kind of target answers at an instant, from a hash: always the same for the same slot.
const characters = {
  steady: () => ({ status: "up", base: 90 }),
  fast: () => ({ status: "up", base: 14 }),
  slow: () => ({ status: "up", base: 840 }),
  failing: () => ({ status: "down", failure: "status_code", http_status: 503, base: 40 }),
  refused: () => ({ status: "down", failure: "connect_refused", base: 1 }),
  expired: () => ({ status: "down", failure: "tls_expired", base: 60 }),
  flapping: (at) =>
    Math.floor(at / 120_000) % 5 === 0
      ? { status: "down", failure: "timeout", base: 5000 }
      : { status: "up", base: 120 },
  halfway: (_at, region) =>
    region === "us-east" ? { status: "down", failure: "connect_timeout", base: 5000 } : { status: "up", base: 70 },
  gappy: (at) =>
    Math.floor(at / 60_000) % 11 < 2
      ? { status: "missed", reason: "region_down", base: 0 }
      : { status: "up", base: 70 },
  blocked: () => ({ status: "unknown", reason: "blocked_address", base: 0 }),
};

const demo = [
  ["Website", "https://www.example.com/", "steady", 10],
  ["Shop checkout", "https://shop.example.com/checkout/health", "flapping", 10],
  ["Public API", "https://api.example.com/v1/health", "fast", 10],
  ["Search", "https://search.example.com/", "slow", 30],
  ["Legacy reports", "https://reports.example.com/status?deep=1", "failing", 10],
  ["Partner gateway", "https://partners.example.net:8443/ping", "halfway", 10],
  ["Old intranet", "https://intranet.example.org/", "expired", 60],
  ["Image CDN", "https://img.example-cdn.net/pixel.png", "fast", 10],
  ["Docs", "https://docs.example.com/", "gappy", 10],
  ["Metadata", "http://metadata.example.com/", "blocked", 30],
  ["Mail relay", "http://mail.example.com:8025/health", "steady", 60],
  ["Staging", "https://staging.example.com/", "steady", 60, false],
];

export class World {
  constructor({ regions = ["eu-central", "us-east"], extra = 0, empty = false } = {}) {
    this.regions = regions;
    this.epoch = `mock-${Date.now()}`;
    this.seq = 0;
    this.ring = [];
    this.subscribers = new Set();
    this.targets = new Map();
    this.nextId = 1;
    if (!empty) {
      for (const [name, url, character, interval_s, active = true] of demo)
        this.add({ name, url, interval_s, active }, character);
      for (let i = 1; i <= extra; i++) {
        this.add(
          { name: `Service ${i}`, url: `https://s${i}.example.com/`, interval_s: 60 },
          ["steady", "fast", "slow"][i % 3],
        );
      }
    }
    this.timer = setInterval(() => this.tick(Date.now()), 200);
  }

  add(input, character = "steady") {
    const id = this.nextId++;
    const now = iso(Date.now());
    const target = {
      id,
      name: input.name || new URL(input.url).host + new URL(input.url).pathname.replace(/\/$/, ""),
      url: input.url,
      kind: "http",
      interval_s: input.interval_s ?? 60,
      timeout_ms: input.timeout_ms ?? Math.min(10_000, (input.interval_s ?? 60) * 500),
      regions: input.regions ?? [],
      active: input.active ?? true,
      expect: input.expect ?? {},
      spec_version: id,
      created_at: now,
      updated_at: now,
    };
    this.targets.set(id, {
      target,
      character,
      since: Date.now() - (id % 7) * 3_700_000,
      born: this.subscribers.size || input.fresh ? Date.now() : 0,
      state: null,
      last: 0,
    });
    this.emit([id], []);
    return target;
  }

  update(id, change) {
    const entry = this.targets.get(id);
    Object.assign(entry.target, change, { spec_version: entry.target.spec_version + 1, updated_at: iso(Date.now()) });
    this.emit([id], []);
    return entry.target;
  }

  remove(id) {
    this.targets.delete(id);
    this.push([{ op: "remove", id }]);
  }

  /** The result of a slot, fully determined by the target, the slot and the region. */
  result({ target, character }, at, region) {
    const what = characters[character](at, region);
    let seed = (target.id * 7919 + (at / 1000) * 104_729 + region.length * 31) % 2_147_483_647;
    const random = () => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed / 2_147_483_647;
    };
    const wave = 1 + 0.25 * Math.sin(at / 2_400_000) + 0.3 * random() + (random() > 0.97 ? 1.2 : 0);
    const total = Math.round(what.base * 1000 * wave * (region === "us-east" ? 1.4 : 1));
    const measured = what.status === "up" || what.status === "down";
    const tls = target.url.startsWith("https") && what.failure !== "connect_refused";
    const parts = tls ? [0.06, 0.14, 0.27, 0.45, 0.08] : [0.1, 0.2, 0, 0.6, 0.1];
    const [dns, connect, tlsUs, wait, transfer] = parts.map((p) => Math.round(p * total));
    return {
      target_id: target.id,
      region,
      scheduled_at: iso(at),
      checked_at: measured ? iso(at + 12) : null,
      status: what.status,
      failure: what.failure ?? "",
      reason: what.reason ?? "",
      http_status: what.http_status ?? (what.status === "up" ? 200 : 0),
      dns_us: dns,
      connect_us: what.failure === "connect_refused" ? total - dns : connect,
      tls_us: tlsUs,
      wait_us: wait,
      transfer_us: transfer,
      total_us: total,
      attempt: measured ? 1 : 0,
      prober: `${region}-1`,
      message: what.failure === "tls_expired" ? "certificate expired on 2026-02-03" : "",
      address: measured ? "192.0.2.10" : "",
      cert_not_after: tls ? iso(Date.now() + 40 * DAY) : null,
    };
  }

  phase({ target }) {
    return (target.id * 2_654_435) % (target.interval_s * 1000);
  }

  *slots(entry, from, to) {
    const step = entry.target.interval_s * 1000;
    const first = Math.ceil((Math.max(from, entry.born) - this.phase(entry)) / step) * step + this.phase(entry);
    for (let at = first; at < to; at += step) yield at;
  }

  results(entry, from, to) {
    const rows = [];
    const regions = entry.target.regions.length ? entry.target.regions : this.regions;
    for (const at of this.slots(entry, from, to))
      for (const region of regions) rows.push(this.result(entry, at, region));
    return rows.reverse();
  }

  tick(now) {
    const fresh = new Map();
    for (const [id, entry] of this.targets) {
      if (!entry.target.active) continue;
      const rows = this.results(entry, Math.max(entry.last, now - 2000) + 1, now);
      if (rows.length === 0) continue;
      entry.last = now;
      fresh.set(id, rows);
    }
    if (fresh.size > 0) this.emit([...fresh.keys()], fresh);
  }

  item(entry, ticks) {
    const { target } = entry;
    const step = target.interval_s * 1000;
    const now = Date.now();
    const newest = this.results(entry, now - 3 * step, now);
    const latest = [];
    for (const row of newest)
      if (!latest.some((r) => r.region === row.region))
        latest.push({ ...row, fresh: row.status === "up" || row.status === "down" });
    const measured = latest.filter((r) => r.fresh);
    const down = measured.filter((r) => r.status === "down");
    const state = !target.active
      ? "paused"
      : measured.length === 0
        ? "no_data"
        : down.length * 2 > measured.length
          ? "down"
          : down.length
            ? "degraded"
            : "up";
    if (entry.state && entry.state !== state) entry.since = now;
    entry.state = state;
    const last = measured[0];
    const totals = newest
      .filter((r) => r.status === "up")
      .map((r) => r.total_us)
      .sort((a, b) => a - b);
    return {
      ...target,
      state,
      since: iso(entry.since),
      why: why(state, measured.length, down, latest),
      last_result_at: last ? last.scheduled_at : null,
      fresh_until: last ? iso(Date.parse(last.scheduled_at) + 2 * step + target.timeout_ms) : null,
      p50_us: totals[totals.length >> 1] ?? null,
      region_states: latest,
      ticks: ticks.map((r) => ({
        at: r.scheduled_at,
        region: r.region,
        status: r.status,
        total_us: r.total_us,
        failure: r.failure,
        reason: r.reason,
      })),
    };
  }

  emit(ids, fresh) {
    this.push(ids.map((id) => ({ op: "upsert", id, item: this.item(this.targets.get(id), fresh.get?.(id) ?? []) })));
  }

  push(ops) {
    this.seq++;
    const frame = { t: "delta", ch: "targets", from_seq: this.seq - 1, seq: this.seq, ops };
    this.ring.push(frame);
    if (this.ring.length > 3000) this.ring.shift();
    for (const send of this.subscribers) send(frame);
  }

  overview(first) {
    const { now, items, regions } = this.snapshot();
    const states = ["down", "degraded", "no_data", "maintenance", "up", "paused"];
    const counts = Object.fromEntries(
      states.map((state) => [state, items.filter((one) => one.state === state).length]),
    );
    const rank = (item) => states.indexOf(item.state);
    items.sort((a, b) => rank(a) - rank(b) || a.name.localeCompare(b.name, "en", { numeric: true }) || a.id - b.id);
    return { now, total: items.length, counts, items: items.slice(0, first), regions };
  }

  snapshot() {
    const now = Date.now();
    const items = [...this.targets.values()].map((entry) =>
      this.item(entry, this.results(entry, now - 30 * entry.target.interval_s * 1000, now)),
    );
    return {
      epoch: this.epoch,
      seq: this.seq,
      now: iso(now),
      items,
      regions: this.regions.map((region) => ({ region, probers: 1, live: true, heartbeat_at: iso(now - 800) })),
    };
  }
}

function why(state, measured, down, latest) {
  if (state === "paused") return "Paused.";
  if (state === "no_data")
    return latest[0]?.reason === "blocked_address" ? "The address is not allowed to be probed." : "No fresh result.";
  if (state === "up") return `Up in ${measured} of ${measured} regions.`;
  const cause = {
    status_code: "unexpected status code 503",
    connect_timeout: "connection timed out",
    tls_expired: "certificate has expired",
    timeout: "no answer in time",
    connect_refused: "connection refused",
  };
  return `Down in ${down.map((r) => r.region).join(", ")}: ${cause[down[0].failure] ?? down[0].failure}.`;
}
