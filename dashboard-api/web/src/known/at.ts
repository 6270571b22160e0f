import type { KnownDay, KnownSlot } from "../api/known";
import type { PageState } from "../api/statusPages";
import { type Cell, foldSlot, type SlotView } from "../live/history";
import { instants, offsetAt, wallOf } from "../maintenance/wall";
import { listed } from "../ui/words";
import { t } from "../words/t";

/**
 * The instant that an address asks for, to the millisecond; undefined if it asks for none. What cannot
 * be read stays as it is: whoever is asked for it says so, and the present is not shown in its place.
 */
export function askedAt(value: unknown): string | undefined {
  if (value === undefined) return;
  return readable(value) ? written(Date.parse(value)) : String(value);
}

/** Whether this is an instant. */
export function readable(value: unknown): value is string {
  return (
    typeof value === "string" &&
    /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/.test(value) &&
    !Number.isNaN(Date.parse(value))
  );
}

/** The instant of the past that the page shows; undefined: the present. */
export function pastOf(matches: readonly { search: unknown }[]): string | undefined {
  const { at } = (matches.at(-1)?.search ?? {}) as { at?: unknown };
  return typeof at === "string" ? at : undefined;
}

/** As an address says it: without the fraction of a second where there is none. */
export const written = (at: number): string => new Date(at).toISOString().replace(".000Z", "Z");

/** What the clock of a zone shows at an instant, with its seconds. */
export const fieldAt = (at: number, zone: string): string =>
  new Date(at + offsetAt(zone, at)).toISOString().slice(0, 19);

/** The instant at which the clock of a zone shows that; of two the later one, since it has both behind it. */
export function instantAt(field: string, zone: string): string | undefined {
  const wall = wallOf(field);
  return Number.isNaN(wall) ? undefined : written(instants(wall, zone).last);
}

/** What was known, as bars are drawn: what was not is a slot without data. */
export function slotsOf(slots: readonly KnownSlot[]): SlotView[] {
  return slots.map((slot) => {
    const cells: Cell[] = [];
    for (const row of slot.rows) {
      if (row.known && row.status !== "")
        cells.push({
          region: row.region,
          status: row.status,
          totalUs: row.total_us,
          failure: row.failure,
          reason: row.reason,
        });
    }
    return { at: Date.parse(slot.at), cells, mark: foldSlot(cells) };
  });
}

/** A slot of which something was told later. */
export interface Later {
  at: string;
  region: string;
  laterAt: string;
  /** Something had been told of it. */
  revised: boolean;
}

/** What was told later, the newest slot first. */
export function laterOf(slots: readonly KnownSlot[]): Later[] {
  return slots
    .flatMap((slot) =>
      slot.rows.flatMap((row) =>
        row.later_at ? [{ at: slot.at, region: row.region, laterAt: row.later_at, revised: row.known }] : [],
      ),
    )
    .reverse();
}

const dayWords: [PageState, (n: number) => string][] = [
  ["up", (n) => t("{n} up", { n })],
  ["degraded", (n) => t("{n} degraded", { n })],
  ["down", (n) => t("{n} with an outage", { n })],
  ["maintenance", (n) => t("{n} in maintenance", { n })],
  ["no_data", (n) => t("{n} without data", { n })],
];

/** A sentence for a row of days. */
export function daysWord(days: readonly KnownDay[]): string {
  const parts = dayWords.flatMap(([state, word]) => {
    const n = days.filter((day) => day.state === state).length;
    return n > 0 ? [word(n)] : [];
  });
  return t("{n, plural, one {# day: {states}} other {# days: {states}}}", { n: days.length, states: listed(parts) });
}
