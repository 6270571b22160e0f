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
