import { useCallback, useEffect, useRef, useState } from "react";

/** How long somebody has typed nothing before the address says what they typed. */
const LULL_MS = 250;

/**
 * What is typed into a field whose text stands in the address. The page follows at once; the address, which
 * takes a navigation, when there is a lull or the field is left. What the address says by other ways counts more.
 */
export function useTyped(
  written: string,
  write: (text: string) => void,
): { text: string; type: (text: string) => void; done: () => void } {
  const [text, setText] = useState(written);
  const mine = useRef(written);
  const pending = useRef<{ text: string; timer: ReturnType<typeof setTimeout> } | null>(null);
  const drop = useCallback(() => {
    clearTimeout(pending.current?.timer);
    pending.current = null;
  }, []);
  useEffect(() => {
    if (written === mine.current) return;
    mine.current = written;
    drop();
    setText(written);
  }, [written, drop]);
  useEffect(() => drop, [drop]);
  const done = useCallback(() => {
    if (!pending.current) return;
    mine.current = pending.current.text;
    drop();
    write(mine.current);
  }, [drop, write]);
  const type = useCallback(
    (next: string) => {
      setText(next);
      drop();
      pending.current = { text: next, timer: setTimeout(done, LULL_MS) };
    },
    [drop, done],
  );
  return { text, type, done };
}

/** What the address is about to say, until it says anything new: the page does not wait for the navigation. */
export function useAhead<Search extends object>(search: Search): [Search, (next: Partial<Search>) => void] {
  const [ahead, setAhead] = useState<{ of: Search; next: Search } | null>(null);
  const shown = ahead?.of === search ? ahead.next : search;
  const go = useCallback(
    (next: Partial<Search>) => setAhead({ of: search, next: { ...shown, ...next } }),
    [search, shown],
  );
  return [shown, go];
}
