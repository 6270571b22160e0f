// What is pretended to have been known of a target at an instant: everything but the slot before it,
// of which one region told later.
import { iso } from "./world.mjs";

const SLOTS = 90;

export function knownOf(world, entry, at) {
  const { target } = entry;
  const step = target.interval_s * 1000;
  const slots = new Map();
  for (const result of world.results(entry, at - SLOTS * step, at).reverse()) {
    const rows = slots.get(result.scheduled_at) ?? [];
    const late = rows.length > 0 && Date.parse(result.scheduled_at) > at - step;
    rows.push({
      region: result.region,
      known: !late,
      status: late ? "" : result.status,
      failure: late ? "" : result.failure,
      reason: late ? "" : result.reason,
      http_status: late ? 0 : result.http_status,
      total_us: late ? 0 : result.total_us,
      known_at: late ? null : iso(Date.parse(result.scheduled_at) + 40),
      later_at: late ? iso(at + 5_000) : null,
    });
    slots.set(result.scheduled_at, rows);
  }
  const newest = [...slots].at(-1)?.[1].filter((row) => row.known) ?? [];
  const down = newest.filter((row) => row.status === "down").length;
  const state = newest.length === 0 ? "no_data" : down * 2 > newest.length ? "down" : down ? "degraded" : "up";
  return {
    at: iso(at),
    target,
    state,
    since: newest.length ? iso(at - 40 * 60_000) : null,
    why: `${newest.length - down} of ${newest.length} regions said up.`,
    basis: "results",
    region_states: newest.map((row) => ({ ...row, scheduled_at: [...slots.keys()].at(-1), fresh: true })),
    maintained: [],
    slots: [...slots].map(([slot, rows]) => ({ at: slot, rows })),
    incidents: [],
    looked_from: iso(at - SLOTS * step),
    limits: [{ code: "pretended", text: "Nothing here was ever measured." }],
  };
}
