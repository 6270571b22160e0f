import { useEffect, useRef } from "react";

type Keys = Record<string, (event: KeyboardEvent) => void>;

// Nobody types into the box that selects a row.
const editable = "input:not(.pick), textarea, select, [contenteditable], [role=menu], dialog[open] *";

/**
 * Single-key shortcuts of the page. They rest while somebody types, a menu or a
 * dialog is open, or a modifier is held. "g o" is two keys in a row.
 */
export function useKeys(keys: Keys): void {
  const current = useRef(keys);
  current.current = keys;
  useEffect(() => {
    let first = "";
    let firstAt = 0;
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      const target = event.target as Element | null;
      if (target?.closest?.(editable) || document.querySelector("dialog[open]")) return;
      const pair = performance.now() - firstAt < 1000 ? `${first} ${event.key}` : "";
      const run = current.current[pair] ?? current.current[event.key];
      first = event.key;
      firstAt = performance.now();
      if (!run) return;
      event.preventDefault();
      run(event);
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);
}
