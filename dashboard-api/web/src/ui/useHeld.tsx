import { type FocusEvent, useLayoutEffect, useRef, useState } from "react";
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

/** Asked each time, as nobody tells of what had the focus and is gone. */
const isHeld = (card: HTMLElement | null) =>
  card !== null &&
  (card.querySelector(":focus") !== null || (matchMedia("(hover: hover)").matches && card.matches(":hover")));

/** The items of a list, as hold() has them while its card is held; `of` says of what the list is, which is not held over. */
export function useHeld<T>(wanted: readonly T[], keyOf: (item: T) => string | number, of: string) {
  const card = useRef<HTMLElement>(null);
  const last = useRef<{ of: string; items: readonly T[] }>({ of, items: [] });
  const [, again] = useState(0);
  const kept: Kept<T> =
    last.current.of === of && last.current.items.length > 0 && isHeld(card.current)
      ? hold(last.current.items, wanted, keyOf)
      : { items: wanted, pending: 0 };
  useLayoutEffect(() => {
    last.current = { of, items: kept.items };
  });
  const drawAgain = () => again((n) => n + 1);
  const sortNow = () => {
    last.current = { of, items: [] };
    drawAgain();
    card.current?.focus(); // what was pressed goes
  };
  return {
    ...kept,
    /** For the card around the list, and around the chip. */
    card: {
      ref: card,
      tabIndex: -1,
      onPointerLeave: drawAgain,
      onBlur: ({ currentTarget, relatedTarget }: FocusEvent) => {
        if (!currentTarget.contains(relatedTarget)) drawAgain();
      },
    },
    chip: <ReSort n={kept.pending} onSort={sortNow} />,
  };
}
