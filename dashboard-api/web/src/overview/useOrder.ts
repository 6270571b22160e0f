import { useCallback, useRef, useState } from "react";
import { useList, useLive } from "../app/live";
import { arrange, hold, NameOrder, type Shown, type Wish } from "./order";

/**
 * The ids to show. Sorted anew whenever what was asked for changes; a change of
 * the targets themselves moves nothing while the list is under the pointer or focus.
 */
export function useOrder(wish: Wish): Shown & { sortNow: () => void; onHold: (held: boolean) => void } {
  const { store } = useLive();
  const { version } = useList();
  const held = useRef(false);
  const [names] = useState(() => new NameOrder());
  const last = useRef<{ key: string; shown: Shown }>({ key: "", shown: { ids: [], pending: 0 } });
  const [asked, setAsked] = useState(0);

  const wishKey = `${wish.text}\n${wish.state ?? ""}\n${wish.sort}\n${wish.tags.join()}\n${wish.region ?? ""}\n${asked}`;
  const memo = useRef<{ version: number; key: string }>({ version: -1, key: "" });
  if (memo.current.version !== version || memo.current.key !== wishKey) {
    const wanted = arrange(store.all(), wish, names).map((row) => row.id);
    const mayMove = !held.current || last.current.key !== wishKey || last.current.shown.ids.length === 0;
    const before = last.current.shown.ids;
    const shown = mayMove ? { ids: wanted, pending: 0 } : hold(before, wanted, (id) => store.get(id) !== undefined);
    // The same list stays the same object: nothing below it has to look at thousands of rows again.
    const same = shown.ids.length === before.length && shown.ids.every((id, i) => id === before[i]);
    last.current = { key: wishKey, shown: same ? { ...shown, ids: before } : shown };
    memo.current = { version, key: wishKey };
  }

  const sortNow = useCallback(() => setAsked((n) => n + 1), []);
  const onHold = useCallback((now: boolean) => {
    held.current = now;
  }, []);
  return { ...last.current.shown, sortNow, onHold };
}
