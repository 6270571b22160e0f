/** A heading of the list: a tag, or none for those without one, with who has it. */
export interface Group {
  tag: string | null;
  ids: readonly number[];
  /** Where among the lines its heading stands. */
  at: number;
}

/** A line of the list: a target, or the heading of those that follow. */
export type Line = number | Group;

export interface Lines {
  lines: readonly Line[];
  /** None: the list is not grouped. */
  groups: readonly Group[];
}

export const ungrouped = (ids: readonly number[]): Lines => ({ lines: ids, groups: [] });

/**
 * Targets under the tags that they have: under each of several, since who looks for one looks there. Tags stand
 * in their order, those without any come last, and within a group the order stays.
 */
export function groupByTag(ids: readonly number[], tagsOf: (id: number) => readonly string[]): Lines {
  const byTag = new Map<string, number[]>();
  const bare: number[] = [];
  for (const id of ids) {
    const tags = tagsOf(id);
    if (tags.length === 0) bare.push(id);
    for (const tag of tags) {
      const group = byTag.get(tag);
      if (group) group.push(id);
      else byTag.set(tag, [id]);
    }
  }
  const lines: Line[] = [];
  const groups: Group[] = [];
  const add = (tag: string | null, members: readonly number[]) => {
    const group = { tag, ids: members, at: lines.length };
    groups.push(group);
    lines.push(group);
    for (const id of members) lines.push(id);
  };
  for (const tag of [...byTag.keys()].sort()) add(tag, byTag.get(tag) ?? []);
  if (bare.length > 0) add(null, bare);
  return { lines, groups };
}

/** Whether two are the same lines: so nothing below the list has to look at thousands of rows again. */
export function sameLines(a: Lines, b: Lines): boolean {
  return (
    a.lines.length === b.lines.length &&
    a.groups.length === b.groups.length &&
    a.groups.every((group, i) => group.tag === b.groups[i]?.tag && group.at === b.groups[i].at) &&
    a.lines.every((line, i) => typeof line !== "number" || line === b.lines[i])
  );
}

/** The group that a line belongs to; undefined where there are none. */
export function groupAt(groups: readonly Group[], index: number): Group | undefined {
  let low = 0;
  let high = groups.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((groups[middle]?.at ?? 0) <= index) low = middle + 1;
    else high = middle;
  }
  return groups[low - 1];
}

/** Where a target stands in a group; in the first that has it when it is not said which. */
export function placeOf({ lines, groups }: Lines, id: number, tag: string | null | undefined): number {
  const from = tag === undefined ? 0 : (groups.find((group) => group.tag === tag)?.at ?? 0);
  return lines.indexOf(id, from);
}

/** The next line with a target, from one on; that line itself when there is none. From outside it is the first. */
export function stepFrom(lines: readonly Line[], at: number, by: 1 | -1): number {
  if (at < 0) return lines.findIndex((line) => typeof line === "number");
  for (let next = at + by; next >= 0 && next < lines.length; next += by)
    if (typeof lines[next] === "number") return next;
  return at;
}
