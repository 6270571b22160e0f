import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { useCallback, useLayoutEffect, useRef, useState } from "react";
import { useKeys } from "../app/keys";
import { useFilled, useLive } from "../app/live";
import { t } from "../words/t";
import { type RowActions, TargetRow } from "./TargetRow";

/** Only the rows near the viewport exist; j and k walk through all of them. */
export function TargetList({
  ids,
  selected,
  actions,
  onHold,
}: {
  ids: readonly number[];
  selected: ReadonlySet<number>;
  actions: RowActions;
  onHold: (held: boolean) => void;
}) {
  const list = useRef<HTMLUListElement>(null);
  const [top, setTop] = useState(0);
  const narrow = useNarrow();
  const { store } = useLive();
  useLayoutEffect(() => {
    const measure = () => setTop((list.current?.getBoundingClientRect().top ?? 0) + window.scrollY);
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(document.body);
    return () => observer.disconnect();
  }, []);
  // The same function for the same rows: with another one every place is computed anew.
  const keyOf = useCallback((index: number) => ids[index] ?? index, [ids]);
  const rows = useWindowVirtualizer({
    count: ids.length,
    estimateSize: () => (narrow ? 116 : 64),
    overscan: 6,
    scrollMargin: top,
    getItemKey: keyOf,
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: the row height follows the layout
  useLayoutEffect(() => rows.measure(), [narrow]);
  const visible = rows.getVirtualItems();
  useFilled(visible.map((item) => ids[item.index] ?? 0));

  const inside = useRef({ pointer: false, focus: false });
  const holding = (change: Partial<{ pointer: boolean; focus: boolean }>) => {
    Object.assign(inside.current, change);
    onHold(inside.current.pointer || inside.current.focus);
  };

  const step = useCallback(
    (by: 1 | -1) => {
      const current = Number((document.activeElement as HTMLElement | null)?.dataset.row ?? 0);
      const at = ids.indexOf(current);
      const next = at < 0 ? 0 : Math.min(ids.length - 1, Math.max(0, at + by));
      rows.scrollToIndex(next, { align: "auto" });
      const focus = () => list.current?.querySelector<HTMLElement>(`[data-row="${ids[next]}"]`)?.focus();
      requestAnimationFrame(() => requestAnimationFrame(focus));
    },
    [ids, rows],
  );
  const current = () => Number((document.activeElement as HTMLElement | null)?.dataset.row ?? 0);
  const pick = (range: boolean) => () => {
    if (current()) actions.onSelect(current(), range);
  };
  useKeys({
    j: () => step(1),
    k: () => step(-1),
    x: pick(false),
    X: pick(true),
    t: () => {
      const target = store.get(current());
      if (target) actions.onTest(target);
    },
  });

  return (
    <ul
      ref={list}
      className="rows"
      aria-label={t("Targets")}
      style={{ height: rows.getTotalSize() }}
      onPointerEnter={(event) => holding({ pointer: event.pointerType === "mouse" })}
      onPointerLeave={() => holding({ pointer: false })}
      onFocus={() => holding({ focus: true })}
      onBlur={() => holding({ focus: false })}
    >
      {visible.map((item) => (
        <li
          key={item.key}
          className="target"
          data-selected={selected.has(ids[item.index] ?? 0) || undefined}
          aria-setsize={ids.length}
          aria-posinset={item.index + 1}
          style={{ height: item.size, transform: `translateY(${item.start - top}px)` }}
        >
          <TargetRow id={ids[item.index] ?? 0} actions={actions} selected={selected.has(ids[item.index] ?? 0)} />
        </li>
      ))}
    </ul>
  );
}

const narrowQuery = "(max-width: 820px)";

function useNarrow(): boolean {
  const [narrow, setNarrow] = useState(() => matchMedia(narrowQuery).matches);
  useLayoutEffect(() => {
    const media = matchMedia(narrowQuery);
    const update = () => setNarrow(media.matches);
    media.addEventListener("change", update);
    return () => media.removeEventListener("change", update);
  }, []);
  return narrow;
}
