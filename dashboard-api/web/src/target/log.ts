import type { Result, Status } from "../api/types";
import type { SlotView } from "../live/history";
import type { Zoom } from "./zoom";

/** A line of the log: known from the live feed at once, in full as soon as it is stored. */
export interface LogLine {
  key: string;
  at: number;
  region: string;
  status: Status;
  totalUs: number;
  failure: string;
  reason: string;
  full: Result | null;
}

/**
 * The stored results and the live ones as one list, newest first, one line a
 * slot. Live ones count only from where the stored ones begin, so that the list
 * has no holes between pages.
 */
export function mergeLog(stored: readonly Result[], slots: readonly SlotView[]): LogLine[] {
  const lines = new Map<string, LogLine>();
  let oldest = stored.length === 0 ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  for (const result of stored) {
    const at = Date.parse(result.scheduled_at);
    oldest = Math.min(oldest, at);
    const key = `${at}/${result.region}`;
    lines.set(key, {
      key,
      at,
      region: result.region,
      status: result.status,
      totalUs: result.total_us,
      failure: result.failure,
      reason: result.reason,
      full: result,
    });
  }
  for (const slot of slots) {
    if (slot.at < oldest) continue;
    for (const cell of slot.cells) {
      const key = `${slot.at}/${cell.region}`;
      if (!lines.has(key)) lines.set(key, { key, at: slot.at, ...cell, full: null });
    }
  }
  return [...lines.values()].sort((a, b) => b.at - a.at || (a.region < b.region ? -1 : 1));
}

/** The live slots of the range that is looked at closely. */
export const slotsIn = (slots: readonly SlotView[], zoom: Zoom | null): readonly SlotView[] =>
  zoom ? slots.filter(({ at }) => at >= zoom.from * 1000 && at < zoom.to * 1000) : slots;
