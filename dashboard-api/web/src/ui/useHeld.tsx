import { type FocusEvent, type PointerEvent, useRef, useState } from "react";
import { ReSort } from "./ReSort";

interface Kept<T> {
  items: readonly T[];
  /** How many rows would be others if the list were made anew. */
  pending: number;
}

/**
 * A list under somebody's pointer or focus: what is there keeps its place, also when it is not wanted any more, and what
 * is new waits. Only what was asked for at the end, by "older", comes at once.
 */
export function hold<T>(shown: readonly T[], wanted: readonly T[], keyOf: (item: T) => string | number): Kept<T> {
  const fresh = new Map(wanted.map((item) => [keyOf(item), item]));
  const there = new Set(shown.map(keyOf));
  const isNew = (item: T) => !there.has(keyOf(item));
  const last = wanted.findLastIndex((item) => !isNew(item));
  const come = wanted.slice(0, last < 0 ? wanted.length : last).filter(isNew).length;
  const gone = shown.filter((item) => !fresh.has(keyOf(item))).length;
  return {
    items: [...shown.map((item) => fresh.get(keyOf(item)) ?? item), ...(last < 0 ? [] : wanted.slice(last + 1))],
    pending: Math.max(come, gone),
  };
}

/** The items of a list, as hold() has them while it is held; `of` says of what the list is, which may not be held over. */
export function useHeld<T>(wanted: readonly T[], keyOf: (item: T) => string | number, of: string) {
  const held = useRef({ pointer: false, focus: false });
  const last = useRef<{ of: string; items: readonly T[] }>({ of, items: [] });
  const [, again] = useState(0);
  const holding = held.current.pointer || held.current.focus;
  const kept: Kept<T> =
    holding && last.current.of === of && last.current.items.length > 0
      ? hold(last.current.items, wanted, keyOf)
      : { items: wanted, pending: 0 };
  last.current = { of, items: kept.items };
  const change = (now: Partial<{ pointer: boolean; focus: boolean }>) => {
    Object.assign(held.current, now);
    if (!held.current.pointer && !held.current.focus) again((n) => n + 1);
  };
  const sortNow = () => {
    last.current = { of, items: [] };
    again((n) => n + 1);
  };
  return {
    ...kept,
    /** For the element around the rows. */
    holds: {
      onPointerEnter: (event: PointerEvent) => change({ pointer: event.pointerType === "mouse" }),
      onPointerLeave: () => change({ pointer: false }),
      onFocus: () => change({ focus: true }),
      onBlur: (event: FocusEvent) => change({ focus: event.currentTarget.contains(event.relatedTarget) }),
    },
    chip: <ReSort n={kept.pending} onSort={sortNow} />,
  };
}
