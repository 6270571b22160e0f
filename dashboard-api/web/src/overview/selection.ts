import type { TargetInput } from "../api/types";
import { sortedTags } from "../ui/tags";
import { listed } from "../ui/words";
import { locale, t } from "../words/t";
import { type Lines, placeOf } from "./groups";

/** What is selected, and where a range would begin. */
export interface Selection {
  ids: ReadonlySet<number>;
  anchor: number | null;
  /** Of which group the anchor is. */
  group?: string | null | undefined;
}

export const nothing: Selection = { ids: new Set(), anchor: null };

/** One is taken or given back; with `range`, all from the anchor to it, in the order shown, are taken. */
export function select(
  old: Selection,
  shown: Lines,
  id: number,
  range: boolean,
  group?: string | null | undefined,
): Selection {
  const ids = new Set(old.ids);
  const from = old.anchor === null ? -1 : placeOf(shown, old.anchor, old.group);
  const to = placeOf(shown, id, group);
  if (range && from >= 0 && to >= 0) {
    for (const one of shown.lines.slice(Math.min(from, to), Math.max(from, to) + 1))
      if (typeof one === "number") ids.add(one);
    return { ids, anchor: id, group };
  }
  if (!ids.delete(id)) ids.add(id);
  return { ids, anchor: id, group };
}

/** What is selected and not among those shown. */
export function hiddenOf(ids: ReadonlySet<number>, shown: readonly number[]): ReadonlySet<number> {
  const hidden = new Set(ids);
  for (const id of shown) hidden.delete(id);
  return hidden;
}

/** Runs over many with a few at a time; what fails does not stop the rest. */
export async function inTurn<T>(
  items: readonly T[],
  act: (item: T) => Promise<void>,
  onProgress: (done: number, failed: number) => void,
  stopped: () => boolean,
  atOnce = 6,
): Promise<{ done: T[]; failed: { item: T; error: unknown }[] }> {
  const done: T[] = [];
  const failed: { item: T; error: unknown }[] = [];
  let next = 0;
  const worker = async () => {
    while (next < items.length && !stopped()) {
      const item = items[next++] as T;
      try {
        await act(item);
        done.push(item);
      } catch (error) {
        failed.push({ item, error });
      }
      onProgress(done.length, failed.length);
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker));
  return { done, failed };
}

/** Runs over many by parts, one after the other; what is refused, or a part that fails, does not stop the rest. */
export async function inParts<T extends { id: number }>(
  items: readonly T[],
  act: (part: readonly T[]) => Promise<ReadonlyMap<number, unknown>>,
  onProgress: (done: number, failed: number) => void,
  stopped: () => boolean,
  size: number,
): Promise<{ done: T[]; failed: { item: T; error: unknown }[] }> {
  const done: T[] = [];
  const failed: { item: T; error: unknown }[] = [];
  for (let at = 0; at < items.length && !stopped(); at += size) {
    const part = items.slice(at, at + size);
    try {
      const refused = await act(part);
      for (const item of part) {
        if (refused.has(item.id)) failed.push({ item, error: refused.get(item.id) });
        else done.push(item);
      }
    } catch (error) {
      for (const item of part) failed.push({ item, error });
    }
    onProgress(done.length, failed.length);
  }
  return { done, failed };
}

export interface Editable {
  interval_s: number;
  timeout_ms: number;
  regions: readonly string[];
  tags: readonly string[];
}

export type Edit = Partial<{
  interval_s: number;
  timeout_ms: number;
  regions: string[];
  add_tags: string[] | undefined;
  remove_tags: string[] | undefined;
}>;

/** The tags of a target after an edit. */
export const tagsAfter = (tags: readonly string[], edit: Edit): string[] =>
  sortedTags([...tags.filter((tag) => !edit.remove_tags?.includes(tag)), ...(edit.add_tags ?? [])]);

/** What to ask of the server: tags are replaced as a whole there. */
export function patchOf(target: Editable, { add_tags, remove_tags, ...fields }: Edit): TargetInput {
  return add_tags || remove_tags ? { ...fields, tags: tagsAfter(target.tags, { add_tags, remove_tags }) } : fields;
}

const regionWord = (regions: readonly string[]) =>
  regions.length === 0 ? t("every region") : listed([...regions].sort());

const plain = new Intl.NumberFormat(locale(), { useGrouping: false, maximumFractionDigits: 3 });
const seconds = (s: number) => t("{s} s", { s: plain.format(s) });

/** What an edit would change, by what it is now: "10 s → 30 s" for how many. */
export function preview(
  targets: readonly Editable[],
  edit: Edit,
): { field: string; from: string; to: string; n: number }[] {
  const counts = new Map<string, { field: string; from: string; to: string; n: number }>();
  const note = (field: string, from: string, to: string) => {
    if (from === to) return;
    const key = `${field}\n${from}`;
    const line = counts.get(key) ?? { field, from, to, n: 0 };
    line.n++;
    counts.set(key, line);
  };
  for (const target of targets) {
    if (edit.interval_s !== undefined) note(t("Interval"), seconds(target.interval_s), seconds(edit.interval_s));
    if (edit.timeout_ms !== undefined)
      note(t("Timeout"), seconds(target.timeout_ms / 1000), seconds(edit.timeout_ms / 1000));
    for (const tag of edit.add_tags ?? [])
      if (!target.tags.includes(tag)) note(t("Tag"), t("without {tag}", { tag }), t("with {tag}", { tag }));
    for (const tag of edit.remove_tags ?? [])
      if (target.tags.includes(tag)) note(t("Tag"), t("with {tag}", { tag }), t("without {tag}", { tag }));
    if (edit.regions !== undefined) note(t("Regions"), regionWord(target.regions), regionWord(edit.regions));
  }
  return [...counts.values()].sort((a, b) => (a.field < b.field ? -1 : a.field > b.field ? 1 : b.n - a.n));
}

/** Whether an edit would change a target at all. */
export const changes = (target: Editable, edit: Edit): boolean => preview([target], edit).length > 0;
