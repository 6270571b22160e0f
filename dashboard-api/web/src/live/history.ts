import type { LatestResult, Status, Stretch, Tick } from "../api/types";

export const BAR_SLOTS = 90;

/** One region's outcome of a slot. */
export interface Cell {
  region: string;
  status: Status;
  totalUs: number;
  failure: string;
  reason: string;
}

/** All regions' outcomes of one scheduled instant. */
export interface SlotView {
  at: number;
  cells: readonly Cell[];
  mark: Mark;
}

/** How a slot is drawn: what the regions that measured it agree on, unless it was of maintenance. */
export type Mark = "up" | "degraded" | "down" | "maintenance" | "none";

type Input = Pick<Tick, "region" | "status" | "total_us" | "failure" | "reason"> & { at: string };

export const fromLatest = (r: LatestResult): Input => ({ ...r, at: r.scheduled_at });

const measured = (status: Status) => status === "up" || status === "degraded" || status === "down";

/** Strict majority of the measuring regions down is down; anything less than all up is degraded. */
export function foldSlot(cells: readonly Cell[]): Mark {
  let seen = 0;
  let down = 0;
  let troubled = 0;
  for (const cell of cells) {
    if (!measured(cell.status)) continue;
    seen++;
    if (cell.status === "down") down++;
    if (cell.status !== "up") troubled++;
  }
  if (seen === 0) return "none";
  if (down * 2 > seen) return "down";
  return troubled > 0 ? "degraded" : "up";
}

/** The slots as they are drawn of a target that was maintained, or is; the same array when it never was. */
export function maintained(slots: readonly SlotView[], when: readonly Stretch[]): readonly SlotView[] {
  if (when.length === 0) return slots;
  const spans = when.map(({ from, to }) => [Date.parse(from), to === null ? Number.POSITIVE_INFINITY : Date.parse(to)]);
  return slots.map((slot) =>
    spans.some(([from = 0, to = 0]) => from <= slot.at && slot.at < to) ? { ...slot, mark: "maintenance" } : slot,
  );
}

/**
 * Merges results into a target's slots by (scheduled instant, region), keeping
 * the newest 90 slots. Order of arrival does not matter and repeats change
 * nothing, so a snapshot, deltas and the API's answer can overlap freely. A
 * measurement is never replaced by a reason. Returns the same array when nothing changed.
 */
export function mergeSlots(slots: readonly SlotView[], incoming: readonly Input[]): readonly SlotView[] {
  if (incoming.length === 0) return slots;
  const [only] = incoming;
  if (only && incoming.length === 1) {
    // Nearly always: one result, of a slot after all others.
    const at = Date.parse(only.at);
    if (at > (slots.at(-1)?.at ?? 0)) {
      const cells = withCell([], only);
      const kept = slots.length < BAR_SLOTS ? slots : slots.slice(1 - BAR_SLOTS);
      return [...kept, { at, cells, mark: foldSlot(cells) }];
    }
  }
  const bySlot = new Map(slots.map((slot) => [slot.at, slot]));
  let changed = false;
  for (const input of incoming) {
    const at = Date.parse(input.at);
    const slot = bySlot.get(at);
    const cells = withCell(slot?.cells ?? [], input);
    if (slot && cells === slot.cells) continue;
    bySlot.set(at, { at, cells, mark: foldSlot(cells) });
    changed = true;
  }
  if (!changed) return slots;
  const merged = [...bySlot.values()].sort((a, b) => a.at - b.at).slice(-BAR_SLOTS);
  const same = merged.length === slots.length && merged.every((slot, i) => slot === slots[i]);
  return same ? slots : merged;
}

function withCell(cells: readonly Cell[], input: Input): readonly Cell[] {
  const cell: Cell = {
    region: input.region,
    status: input.status,
    totalUs: input.total_us,
    failure: input.failure,
    reason: input.reason,
  };
  const index = cells.findIndex((c) => c.region === cell.region);
  const old = cells[index];
  if (!old) return [...cells, cell].sort((a, b) => (a.region < b.region ? -1 : 1));
  if (measured(old.status) && !measured(cell.status)) return cells;
  if (
    old.status === cell.status &&
    old.totalUs === cell.totalUs &&
    old.failure === cell.failure &&
    old.reason === cell.reason
  ) {
    return cells;
  }
  return cells.with(index, cell);
}
