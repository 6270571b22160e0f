import { useEffect, useRef } from "react";

type Keys = Record<string, (event: KeyboardEvent) => void>;

// Nobody types into the box that selects a row.
const editable = "input:not(.pick), textarea, select, [contenteditable], [role=menu], dialog[open] *";

const PAIR_MS = 1_000;

/**
 * Gives of each key the pair with the one before, if that was not long ago: by when they were pressed, since a busy
 * page hears of them late.
 */
export function pairs(): (key: string, at: number) => string {
  let first = "";
  let firstAt = Number.NEGATIVE_INFINITY;
  return (key, at) => {
    const pair = at - firstAt < PAIR_MS ? `${first} ${key}` : "";
    first = key;
    firstAt = at;
    return pair;
  };
}

/**
 * Single-key shortcuts of the page. They rest while somebody types, a menu or a
 * dialog is open, or a modifier is held. "g o" is two keys in a row.
 */
export function useKeys(keys: Keys): void {
  const current = useRef(keys);
  current.current = keys;
  useEffect(() => {
    const pairOf = pairs();
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      const target = event.target as Element | null;
      if (target?.closest?.(editable) || document.querySelector("dialog[open]")) return;
      const run = current.current[pairOf(event.key, event.timeStamp)] ?? current.current[event.key];
      if (!run) return;
      event.preventDefault();
      run(event);
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);
}
