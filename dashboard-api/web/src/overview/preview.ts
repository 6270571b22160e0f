// What an edit of many would change, as the server says it.

import type { BatchSet, Before } from "../api/types";
import { listed } from "../ui/words";
import { locale, t } from "../words/t";

export interface Line {
  field: string;
  from: string;
  to: string;
  n: number;
}

const plain = new Intl.NumberFormat(locale(), { useGrouping: false, maximumFractionDigits: 3 });
const seconds = (s: number) => t("{s} s", { s: plain.format(s) });
const regions = (of: readonly string[]) => (of.length === 0 ? t("every region") : listed([...of].sort()));
const statuses = (of: BatchSet["expect"]) => listed(of?.status?.length ? of.status : ["200-399"]);
const families = { 4: "IPv4", 6: "IPv6" };

/** What a change of one member is in words; nothing of what is not said. */
const words: {
  [Member in keyof BatchSet]-?: (
    was: Exclude<BatchSet[Member], undefined>,
    is: BatchSet[Member],
    nameOf: (id: number) => string,
  ) => Omit<Line, "n">[];
} = {
  active: (was) => [
    { field: t("Checks"), from: was ? t("Running") : t("Paused"), to: was ? t("Paused") : t("Running") },
  ],
  interval_s: (was, is) => [{ field: t("Interval"), from: seconds(was), to: seconds(Number(is)) }],
  timeout_ms: (was, is) => [{ field: t("Timeout"), from: seconds(was / 1000), to: seconds(Number(is) / 1000) }],
  regions: (was, is) => [{ field: t("Regions"), from: regions(was), to: regions(is ?? []) }],
  // What would put it back is told: a tag to be added there goes now.
  add_tags: (gone) =>
    gone.map((tag) => ({ field: t("Tag"), from: t("with {tag}", { tag }), to: t("without {tag}", { tag }) })),
  remove_tags: (come) =>
    come.map((tag) => ({ field: t("Tag"), from: t("without {tag}", { tag }), to: t("with {tag}", { tag }) })),
  parent_id: (was, is, nameOf) => {
    const name = (id: number | null | undefined) => (id ? nameOf(id) : t("Nothing"));
    return [{ field: t("Depends on"), from: name(was), to: name(is) }];
  },
  expect: (was, is) => [{ field: t("Expected status codes"), from: statuses(was), to: statuses(is) }],
  family: (was, is) => {
    const name = (family: BatchSet["family"]) => (family ? families[family] : "IPv4, IPv6");
    return [{ field: t("Addresses"), from: name(was), to: name(is) }];
  },
  assertions: (was, is) => [
    {
      field: t("Assertions"),
      from: was?.length ? t("{n, plural, one {# assertion} other {# assertions}}", { n: was.length }) : t("Nothing"),
      to: is?.length ? t("those above") : t("Nothing"),
    },
  ],
  policy: (was, is) => [
    {
      field: t("Rule"),
      from: was ? t("another one") : t("the default"),
      to: is && Object.keys(is).length > 0 ? t("the one above") : t("the default"),
    },
  ],
};

/** What changes, by what it is now: "10 s → 30 s" for how many. */
export function linesOf(before: readonly Before[], set: BatchSet, nameOf: (id: number) => string): Line[] {
  const lines = new Map<string, Line>();
  for (const { ids, set: was } of before) {
    for (const member of Object.keys(was) as (keyof BatchSet)[]) {
      const say = words[member] as (was: unknown, is: unknown, nameOf: (id: number) => string) => Omit<Line, "n">[];
      for (const one of say(was[member], set[member], nameOf)) {
        const key = `${one.field}\n${one.from}\n${one.to}`;
        const line = lines.get(key) ?? { ...one, n: 0 };
        line.n += ids.length;
        lines.set(key, line);
      }
    }
  }
  return [...lines.values()].sort((a, b) => (a.field < b.field ? -1 : a.field > b.field ? 1 : b.n - a.n));
}
