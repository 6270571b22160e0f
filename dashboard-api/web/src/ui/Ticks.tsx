import { memo, type PointerEvent, useMemo, useState } from "react";
import { createPortal } from "react-dom";
import type { Stretch } from "../api/types";
import { useZone } from "../app/preferences";
import { BAR_SLOTS, type Mark, maintained, type SlotView } from "../live/history";
import { t } from "../words/t";
import { absolute } from "./time";
import { explain, latency, listed, statusWords } from "./words";

const PITCH = 4;
const WIDTH = BAR_SLOTS * PITCH;
const HEIGHT = 28;

// Shape carries the meaning: full, upper part, lower and wider, middle block, thin line.
const shapes: Record<Mark, (x: number) => string> = {
  up: (x) => `M${x + 0.6} 1h2.6v26h-2.6z`,
  degraded: (x) => `M${x + 0.6} 1h2.6v13h-2.6z`,
  down: (x) => `M${x + 0.1} 12h3.7v16h-3.7z`,
  maintenance: (x) => `M${x + 0.3} 9h3.2v10h-3.2z`,
  none: (x) => `M${x + 1.6} 1h.8v26h-.8z`,
};
const marks: readonly Mark[] = ["none", "up", "degraded", "maintenance", "down"];

function summary(slots: readonly SlotView[]): string {
  if (slots.length === 0) return t("No checks yet");
  const n = { up: 0, degraded: 0, down: 0, maintenance: 0, none: 0 };
  for (const slot of slots) n[slot.mark]++;
  const parts = [t("{n, plural, one {# up} other {# up}}", { n: n.up })];
  if (n.degraded) parts.push(t("{n, plural, one {# degraded} other {# degraded}}", { n: n.degraded }));
  if (n.down) parts.push(t("{n, plural, one {# down} other {# down}}", { n: n.down }));
  if (n.maintenance)
    parts.push(t("{n, plural, one {# in maintenance} other {# in maintenance}}", { n: n.maintenance }));
  if (n.none) parts.push(t("{n, plural, one {# without data} other {# without data}}", { n: n.none }));
  return t("{n, plural, one {Last # check: {parts}} other {Last # checks: {parts}}}", {
    n: slots.length,
    parts: listed(parts),
  });
}

interface Tip {
  x: number;
  y: number;
  slot: SlotView;
}

/** The last 90 checks, newest at the right. Hovering names the check; the label sums them up. */
export const Ticks = memo(function Ticks({
  slots: measured,
  maintained: when,
  height = HEIGHT,
  came,
}: {
  slots: readonly SlotView[];
  /** What is of then does not count, whatever was measured. */
  maintained: readonly Stretch[];
  height?: number;
  /** The newest slides in, once for each value: an element of its own can move without the bar being drawn again. */
  came?: number | undefined;
}) {
  const [tip, setTip] = useState<Tip | null>(null);
  const slots = useMemo(() => maintained(measured, when), [measured, when]);
  const paths = useMemo(() => {
    const d: Record<Mark, string> = { up: "", degraded: "", down: "", maintenance: "", none: "" };
    const first = BAR_SLOTS - slots.length;
    slots.slice(0, came ? -1 : undefined).forEach((slot, i) => {
      d[slot.mark] += shapes[slot.mark]((first + i) * PITCH);
    });
    return d;
  }, [slots, came]);
  const newest = came ? slots.at(-1)?.mark : undefined;

  const said = useMemo(() => summary(slots), [slots]);

  const onMove = (event: PointerEvent<SVGSVGElement>) => {
    const box = event.currentTarget.getBoundingClientRect();
    const column = Math.floor(((event.clientX - box.left) / box.width) * BAR_SLOTS);
    const slot = slots[column - (BAR_SLOTS - slots.length)];
    if (!slot) return setTip(null);
    const x = box.left + ((column + 0.5) / BAR_SLOTS) * box.width;
    setTip({ x: Math.max(110, Math.min(x, window.innerWidth - 110)), y: box.top, slot });
  };

  return (
    <>
      <svg
        className="ticks"
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        height={height}
        preserveAspectRatio="none"
        role="img"
        aria-label={said}
        data-count={slots.length}
        data-from={slots[0]?.at}
        data-to={slots.at(-1)?.at}
        onPointerMove={onMove}
        onPointerLeave={() => setTip(null)}
      >
        {slots.length < BAR_SLOTS && (
          <path className="t-before" d={`M0 ${HEIGHT - 1}h${(BAR_SLOTS - slots.length) * PITCH - 1}`} />
        )}
        {marks.map((mark) => paths[mark] && <path key={mark} className={`t-${mark}`} d={paths[mark]} />)}
        {newest && <path key={came} className={`came t-${newest}`} d={shapes[newest](WIDTH - PITCH)} />}
      </svg>
      {tip && createPortal(<TickTip tip={tip} />, document.body)}
    </>
  );
});

function cellWords({ region, status, totalUs, failure, reason }: SlotView["cells"][number]): string {
  const state = statusWords[status];
  const said =
    totalUs > 0
      ? t("{region}: {state}, {detail}", { region, state, detail: latency(totalUs) })
      : t("{region}: {state}", { region, state });
  return failure || reason ? t("{said}. {why}", { said, why: explain(failure, reason) }) : said;
}

function TickTip({ tip }: { tip: Tip }) {
  const [zone] = useZone();
  return (
    <div className="tip" style={{ left: tip.x, top: tip.y }} aria-hidden>
      <b>{absolute(tip.slot.at, zone)}</b>
      {tip.slot.mark === "maintenance" && <span>{t("In maintenance")}</span>}
      {tip.slot.cells.map((cell) => (
        <span key={cell.region}>{cellWords(cell)}</span>
      ))}
    </div>
  );
}
