import type { State } from "../api/types";
import type { TargetView } from "../live/store";
import { states } from "../ui/words";
import { locale } from "../words/t";

export interface Wish {
  text: string;
  state: State | undefined;
  /** Only what has them all. */
  tags: readonly string[];
  sort: "state" | "name" | "slow";
}

type Row = Pick<TargetView, "id" | "name" | "url" | "state" | "p50_us" | "tags">;

const rank = new Map(states.map((state, i) => [state, i]));
const names = new Intl.Collator(locale(), { numeric: true, sensitivity: "base" });

/** The rows that match, in the order asked for; ties go by name, then age. */
export function arrange(rows: readonly Row[], wish: Wish): Row[] {
  const words = wish.text.toLowerCase().split(/\s+/).filter(Boolean);
  const matches = rows.filter((row) => {
    if (wish.state && row.state !== wish.state) return false;
    if (!wish.tags.every((tag) => row.tags.includes(tag))) return false;
    if (words.length === 0) return true;
    const text = `${row.name} ${row.url} ${row.tags.join(" ")}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
  const byName = (a: Row, b: Row) => names.compare(a.name, b.name) || a.id - b.id;
  const first: Record<Wish["sort"], (a: Row, b: Row) => number> = {
    state: (a, b) => (rank.get(a.state) ?? 0) - (rank.get(b.state) ?? 0),
    name: () => 0,
    slow: (a, b) => (b.p50_us ?? -1) - (a.p50_us ?? -1),
  };
  return matches.sort((a, b) => first[wish.sort](a, b) || byName(a, b));
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
