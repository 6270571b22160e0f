import type { State } from "../api/types";

/** Something the palette offers. */
export interface Entry {
  key: string;
  kind: "action" | "page" | "target";
  name: string;
  hint: string;
  state?: State;
  tags?: readonly string[];
  run: () => void;
}

interface Target {
  id: number;
  name: string;
  url: string;
  tags: readonly string[];
  state: State;
}

const MOST = 12;

/** How well a text answers what was typed: a beginning is better than a word, a word than a part; 0: not at all. */
export function score(words: readonly string[], name: string, rest: string): number {
  const low = name.toLowerCase();
  const all = `${low} ${rest.toLowerCase()}`;
  let sum = 1;
  for (const word of words) {
    if (low.startsWith(word)) sum += 8;
    else if (low.includes(` ${word}`)) sum += 5;
    else if (low.includes(word)) sum += 3;
    else if (all.includes(word)) sum += 1;
    else return 0;
  }
  return sum;
}

/** What to offer: with nothing typed the pages and actions, else what matches best, of targets too. */
export function find(
  typed: string,
  fixed: readonly Entry[],
  targets: readonly Target[],
  open: (id: number) => void,
): Entry[] {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [...fixed];
  const found: { points: number; entry: Entry }[] = [];
  for (const entry of fixed) {
    const points = score(words, entry.name, entry.hint);
    if (points > 0) found.push({ points: points + 1, entry }); // before a target that is as good
  }
  for (const target of targets) {
    const points = score(words, target.name, `${target.url} ${target.tags.join(" ")}`);
    if (points === 0) continue;
    found.push({
      points,
      entry: {
        key: `t${target.id}`,
        kind: "target",
        name: target.name,
        hint: target.url,
        tags: target.tags,
        state: target.state,
        run: () => open(target.id),
      },
    });
  }
  return found
    .sort((a, b) => b.points - a.points || (a.entry.name < b.entry.name ? -1 : 1))
    .slice(0, MOST)
    .map(({ entry }) => entry);
}
