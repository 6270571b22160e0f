import { useMemo, useRef } from "react";
import { useList, useLive } from "../app/live";
import { groupByTag, type Lines, sameLines, ungrouped } from "./groups";

/** The lines of the list: the targets, under their tags if that is wanted. */
export function useGroups(ids: readonly number[], byTag: boolean): Lines {
  const { store } = useLive();
  const { version } = useList();
  const last = useRef(ungrouped([]));
  // Without groups nothing changes but the ids.
  const of = byTag ? version : 0;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the store changes with its version
  return useMemo(() => {
    const next = byTag ? groupByTag(ids, (id) => store.get(id)?.tags ?? []) : ungrouped(ids);
    if (!byTag || !sameLines(last.current, next)) last.current = next;
    return last.current;
  }, [ids, byTag, store, of]);
}
