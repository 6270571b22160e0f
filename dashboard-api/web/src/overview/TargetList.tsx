import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { lazy, Suspense, useCallback, useLayoutEffect, useRef, useState } from "react";
import type { Lacks } from "../api/types";
import { useKeys } from "../app/keys";
import { useFilled, useLive } from "../app/live";
import { t } from "../words/t";
import { GroupHead } from "./GroupHead";
import { groupAt, type Lines, stepFrom } from "./groups";
import { type RowActions, TargetRow } from "./TargetRow";
import { useFigures } from "./useFigures";

// The list does without its note where the script of that cannot be had.
const LackNote = lazy(async () => {
  const note = await import("../ui/KeptNote").catch(() => null);
  return { default: note?.LackNote ?? Nothing };
});
const Nothing = (_: { of: Lacks }) => null;

const HEAD = 44;
/** About where the list begins, in px: the first picture has its rows before that is measured. */
const ABOVE = 320;

/** Only the rows near the viewport exist; j and k walk through all of them. */
export function TargetList({
  lines: all,
  total,
  selected,
  actions,
  onHold,
}: {
  lines: Lines;
  /** How many there are when these are only the first. */
  total: number;
  selected: ReadonlySet<number>;
  /** What may be done to a row; null: nothing may. */
  actions: RowActions | null;
  onHold: (held: boolean) => void;
}) {
  const list = useRef<HTMLUListElement>(null);
  const [top, setTop] = useState(ABOVE);
  const narrow = useMedia("(max-width: 820px)");
  const wide = useMedia("(min-width: 1200px)"); // as in overview.css: what has no room is not asked for
  const { store } = useLive();
  useLayoutEffect(() => {
    const measure = () => setTop((list.current?.getBoundingClientRect().top ?? 0) + window.scrollY);
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(document.body);
    return () => observer.disconnect();
  }, []);
  // The same function for the same rows: with another one every place is computed anew.
  const { lines, groups } = all;
  const keyOf = useCallback(
    (index: number) => {
      const line = lines[index];
      if (typeof line === "object") return `#${line.tag ?? ""}`;
      return groups.length > 0 ? `${groupAt(groups, index)?.tag ?? ""}\n${line}` : (line ?? index);
    },
    [lines, groups],
  );
  const height = narrow ? 116 : 64;
  const rows = useWindowVirtualizer({
    count: lines.length,
    estimateSize: (index) => (typeof lines[index] === "object" ? HEAD : height),
    overscan: total > lines.length ? 0 : 6, // the first picture has nothing that is not seen
    scrollMargin: top,
    initialRect: { width: window.innerWidth, height: window.innerHeight },
    getItemKey: keyOf,
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: the row height follows the layout
  useLayoutEffect(() => rows.measure(), [narrow]);
  const visible = rows.getVirtualItems();
  const shown = [...new Set(visible.map((item) => lines[item.index]))].filter((line) => typeof line === "number");
  useFilled(shown);
  const figures = useFigures(shown, wide && total <= lines.length);

  const inside = useRef({ pointer: false, focus: false });
  const holding = (change: Partial<{ pointer: boolean; focus: boolean }>) => {
    Object.assign(inside.current, change);
    onHold(inside.current.pointer || inside.current.focus);
  };
  const settledUntil = useRef<string | null>(null); // its note moves the rows: not under a hand that is on them
  if (!inside.current.pointer && !inside.current.focus) settledUntil.current = figures.settledUntil;

  const wanted = useRef(-1); // the line that takes the focus as soon as it is there
  const focusWanted = () => {
    const row = list.current?.querySelector<HTMLElement>(`[data-at="${wanted.current}"] [data-row]`);
    row?.focus();
    if (row) wanted.current = -1;
  };
  useLayoutEffect(focusWanted);
  const step = (by: 1 | -1) => {
    const at = currentLine();
    wanted.current = stepFrom(lines, current() && at < lines.length ? at : -1, by);
    rows.scrollToIndex(wanted.current, { align: "auto" });
    focusWanted();
  };
  const pick = (range: boolean) => () => {
    if (current()) actions?.onSelect(current(), range, groupAt(groups, currentLine())?.tag);
  };
  useKeys({
    j: () => step(1),
    k: () => step(-1),
    ...(actions && {
      x: pick(false),
      X: pick(true),
      t: () => {
        const target = store.get(current());
        if (target) actions.onTest(target);
      },
    }),
  });

  return (
    <>
      {settledUntil.current && (
        <Suspense fallback={null}>
          <p className="pad muted">
            <LackNote of={{ settled_until: settledUntil.current }} />
          </p>
        </Suspense>
      )}
      <ul
        ref={list}
        className="rows"
        aria-label={t("Targets")}
        style={{ height: rows.getTotalSize() + (total - lines.length) * height }}
        onPointerEnter={(event) => holding({ pointer: event.pointerType === "mouse" })}
        onPointerLeave={() => holding({ pointer: false })}
        onFocus={() => holding({ focus: true })}
        onBlur={() => holding({ focus: false })}
      >
        {visible.map((item) => {
          const line = lines[item.index] ?? 0;
          // Headings are items, too: all that a list may have.
          const place = { "aria-setsize": total, "aria-posinset": item.index + 1 };
          const style = { height: item.size, transform: `translateY(${item.start - top}px)` };
          if (typeof line === "object")
            return (
              <li key={item.key} className="group" {...place} style={style}>
                <GroupHead group={line} />
              </li>
            );
          return (
            <li
              key={item.key}
              className="target"
              data-at={item.index}
              data-selected={selected.has(line) || undefined}
              {...place}
              style={style}
            >
              <TargetRow
                id={line}
                actions={actions}
                selected={selected.has(line)}
                figures={figures.of(line)}
                group={groupAt(groups, item.index)?.tag}
              />
            </li>
          );
        })}
      </ul>
    </>
  );
}

/** The line that has the focus, on whatever of it: its target, and where it stands. */
const focused = () => document.activeElement?.closest<HTMLElement>("[data-at]");
const current = () => Number(focused()?.querySelector<HTMLElement>("[data-row]")?.dataset.row ?? 0);
const currentLine = () => Number(focused()?.dataset.at ?? -1);

function useMedia(query: string): boolean {
  const [matches, setMatches] = useState(() => matchMedia(query).matches);
  useLayoutEffect(() => {
    const media = matchMedia(query);
    const update = () => setMatches(media.matches);
    media.addEventListener("change", update);
    return () => media.removeEventListener("change", update);
  }, [query]);
  return matches;
}
