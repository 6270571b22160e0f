import type { LiveTarget, Snapshot, Status, Tick } from "../api/types";

export const start = Date.parse("2026-03-01T00:00:00.000Z");
export const iso = (ms: number) => new Date(ms).toISOString();

export function tick(slot: number, status: Status = "up", region = "eu", total_us = 1000): Tick {
  return {
    at: iso(start + slot * 10_000),
    region,
    status,
    total_us,
    failure: status === "down" ? "timeout" : "",
    reason: "",
  };
}

export function liveTarget(id: number, change: Partial<LiveTarget> = {}): LiveTarget {
  return {
    id,
    name: `target ${id}`,
    url: `https://t${id}.example/`,
    kind: "http",
    interval_s: 10,
    timeout_ms: 5000,
    regions: [],
    tags: [],
    parent_id: null,
    active: true,
    state: "up",
    since: iso(start),
    why: "",
    last_result_at: iso(start),
    fresh_until: iso(start + 25_000),
    p50_us: 1000,
    region_states: [],
    ticks: [],
    ...change,
  };
}

export function snapshot(seq: number, items: LiveTarget[] = [], epoch = "e1", now = start): Snapshot {
  return { epoch, seq, now: iso(now), items, regions: [] };
}
