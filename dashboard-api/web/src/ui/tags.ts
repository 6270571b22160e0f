// What a tag is, as the server has it.
const tagText = /^[a-z0-9][a-z0-9_.:/-]{0,39}$/;
export const MOST_TAGS = 20;

/** The tags in a text, each once, and what in it is none. */
export function parseTags(text: string): { tags: string[]; bad: string[] } {
  const found = [
    ...new Set(
      text
        .toLowerCase()
        .split(/[\s,;]+/)
        .filter(Boolean),
    ),
  ];
  return { tags: found.filter((one) => tagText.test(one)), bad: found.filter((one) => !tagText.test(one)) };
}

export const sortedTags = (tags: Iterable<string>): string[] => [...new Set(tags)].sort();

/** Tags that go on with what was typed, those of most targets first; not those that are there already. */
export function suggestTags(
  typed: string,
  known: ReadonlyMap<string, number>,
  chosen: readonly string[],
  most = 5,
): string[] {
  const text = typed.trim().toLowerCase();
  const place = (tag: string) => (tag.startsWith(text) ? 0 : 1);
  return [...known.keys()]
    .filter((tag) => tag.includes(text) && !chosen.includes(tag))
    .sort((a, b) => place(a) - place(b) || (known.get(b) ?? 0) - (known.get(a) ?? 0) || (a < b ? -1 : 1))
    .slice(0, most);
}
