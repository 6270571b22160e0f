import type { State } from "../api/types";
import type { TargetView } from "../live/store";
import { states } from "../ui/words";
import { locale } from "../words/t";

export interface Wish {
  text: string;
  state: State | undefined;
  /** Only what has them all. */
  tags: readonly string[];
  /** Only what is checked from it. */
  region?: string | undefined;
  sort: "state" | "name" | "slow";
}

type Row = Pick<TargetView, "id" | "name" | "url" | "state" | "p50_us" | "tags" | "kind" | "regions">;

const names = new Intl.Collator(locale(), { numeric: true, sensitivity: "base" });

// The characters of ASCII as the collator orders them; those it does not tell apart have one weight.
const weights = (() => {
  const found = new Map<number, number>();
  const ordered = Array.from({ length: 95 }, (_, i) => String.fromCharCode(32 + i)).sort(names.compare);
  let weight = 1;
  ordered.forEach((char, i) => {
    if (i > 0 && names.compare(ordered[i - 1] ?? "", char) !== 0) weight++;
    found.set(char.charCodeAt(0), weight);
  });
  return found;
})();
const digit = (code: number) => code >= 48 && code <= 57;

/** A text that compares as the collator compares the name, only much faster; null for what is not ASCII. */
export function nameKey(name: string): string | null {
  let key = "";
  for (let i = 0; i < name.length; i++) {
    const weight = weights.get(name.charCodeAt(i));
    if (weight === undefined) return null;
    if (!digit(name.charCodeAt(i))) {
      key += String.fromCharCode(weight);
      continue;
    }
    let end = i;
    while (end < name.length && digit(name.charCodeAt(end))) end++;
    while (i < end && name[i] === "0") i++;
    // A number stands where digits do: a longer one is greater.
    key += String.fromCharCode(weights.get(48) ?? 0, end - i) + name.slice(i, end);
    i = end - 1;
  }
  return key;
}

interface Place {
  place: number;
  name: string;
  url: string;
  tags: readonly string[];
  /** What a search looks through; empty until somebody searches. */
  text: string;
}

/**
 * Rows in the order of their names. Comparing names is what costs most of sorting a long list, and
 * they hardly ever change: the order is remembered until one does. So is what a search looks through.
 */
export class NameOrder {
  private readonly places = new Map<number, Place>();

  /** Name, address and tags of a row that was sorted, in small letters. */
  text(row: Row): string {
    const at = this.places.get(row.id);
    const text = () => `${row.name} ${row.url} ${row.tags.join(" ")}`.toLowerCase();
    if (!at) return text();
    if (!at.text || at.url !== row.url || at.tags !== row.tags) {
      // Every delta brings a list of its own: mostly the same tags, mostly none.
      if (!at.text || at.url !== row.url || at.tags.join() !== row.tags.join()) at.text = text();
      at.url = row.url;
      at.tags = row.tags;
    }
    return at.text;
  }

  sort(rows: readonly Row[]): Row[] {
    const sorted = new Array<Row>(rows.length);
    let known = rows.length === this.places.size;
    for (const row of rows) {
      const at = this.places.get(row.id);
      known &&= at?.name === row.name;
      if (!known) break;
      sorted[at?.place ?? 0] = row;
    }
    return known ? sorted : this.anew(rows);
  }

  private anew(rows: readonly Row[]): Row[] {
    const keyed = rows.map((row) => ({ row, key: nameKey(row.name) }));
    type Keyed = (typeof keyed)[number];
    const compare = (a: Keyed, b: Keyed) => {
      if (a.key === null || b.key === null) return names.compare(a.row.name, b.row.name);
      return a.key < b.key ? -1 : a.key > b.key ? 1 : 0;
    };
    const sorted = keyed.sort((a, b) => compare(a, b) || a.row.id - b.row.id).map(({ row }) => row);
    this.places.clear();
    sorted.forEach(({ id, name, url, tags }, i) => {
      this.places.set(id, { place: i, name, url, tags, text: "" });
    });
    return sorted;
  }
}

/** Whether a region checks it: without a choice all do, and none of what pings by itself. */
const checkedFrom = (row: Row, region: string): boolean =>
  row.kind !== "heartbeat" && (row.regions.length === 0 || row.regions.includes(region));

/** The rows that match, in the order asked for; ties go by name, then age. */
export function arrange(rows: readonly Row[], wish: Wish, order = new NameOrder()): Row[] {
  const words = wish.text.toLowerCase().split(/\s+/).filter(Boolean);
  const matches = order.sort(rows).filter((row) => {
    if (wish.state && row.state !== wish.state) return false;
    if (!wish.tags.every((tag) => row.tags.includes(tag))) return false;
    if (wish.region && !checkedFrom(row, wish.region)) return false;
    if (words.length === 0) return true;
    const text = order.text(row);
    return words.every((word) => text.includes(word));
  });
  if (wish.sort === "slow") matches.sort((a, b) => (b.p50_us ?? -1) - (a.p50_us ?? -1));
  return wish.sort === "state" ? worstFirst(matches) : matches;
}

/** By state alone: there are few, so nothing is compared. */
function worstFirst(rows: readonly Row[]): Row[] {
  const of = new Map<State, Row[]>(states.map((state) => [state, []]));
  for (const row of rows) {
    const group = of.get(row.state);
    if (group) group.push(row);
    else of.set(row.state, [row]);
  }
  return [...of.values()].flat();
}

export interface Shown {
  ids: readonly number[];
  /** How many rows would move, appear or vanish if the list were sorted now. */
  pending: number;
}

/**
 * The list under somebody's pointer or focus: rows keep their place. What was
 * deleted goes, what is new is added at the end, and the rest waits to be asked.
 */
export function hold(shown: readonly number[], wanted: readonly number[], exists: (id: number) => boolean): Shown {
  const before = new Set(shown);
  const kept = shown.filter(exists);
  const ids = [...kept, ...wanted.filter((id) => !before.has(id))];
  return { ids, pending: displaced(ids, wanted) };
}

/** The fewest rows that have to be touched to turn one order into the other. */
function displaced(ids: readonly number[], wanted: readonly number[]): number {
  const place = new Map(wanted.map((id, i) => [id, i]));
  const places = ids.map((id) => place.get(id)).filter((p) => p !== undefined);
  const gone = ids.length - places.length;
  const tails: number[] = []; // longest rising run that can stay where it is
  for (const p of places) {
    let low = 0;
    let high = tails.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((tails[middle] ?? 0) < p) low = middle + 1;
      else high = middle;
    }
    tails[low] = p;
  }
  return gone + places.length - tails.length;
}
