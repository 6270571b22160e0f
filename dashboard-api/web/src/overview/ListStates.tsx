import { Plus, SearchX } from "lucide-react";
import type { OverviewSearch } from "../app/router";
import { stateWords } from "../ui/words";

export function ListSkeleton() {
  return (
    <div aria-hidden="true" className="list-skeleton">
      {[62, 48, 70, 55, 40, 66].map((width) => (
        <div key={width} className="target">
          <span className="skeleton" style={{ width: 22, height: 22 }} />
          <span className="skeleton" style={{ width: `${width}%`, height: 14 }} />
          <span className="skeleton bar" style={{ height: 26 }} />
        </div>
      ))}
    </div>
  );
}

const picture = Array.from({ length: 30 }, (_, i) => i * 6 + 1);

/** Nothing is watched yet: says what to do and what happens then. */
export function FirstTarget({ onAdd }: { onAdd: () => void }) {
  return (
    <div className="empty">
      <svg width="180" height="40" viewBox="0 0 180 40" aria-hidden="true" className="empty-ticks">
        {picture.map((x) => (
          <rect key={x} x={x} y={x === 127 ? 18 : 6} width={x === 127 ? 5 : 3} height={x === 127 ? 18 : 28} rx="1.5" />
        ))}
      </svg>
      <h2>Watch your first URL</h2>
      <p>
        Paste an address. It is checked from every region, and each check becomes one tick here, from the first one on.
      </p>
      <div className="actions">
        <button type="button" className="btn primary" onClick={onAdd}>
          <Plus size={16} aria-hidden /> Add target
        </button>
      </div>
      <p className="muted">
        or press <kbd>c</kbd>
      </p>
    </div>
  );
}

export function NothingMatches({ search, onClear }: { search: OverviewSearch; onClear: () => void }) {
  const what = search.state ? `No target is in the state “${stateWords[search.state]}”` : "No target";
  return (
    <div className="empty">
      <SearchX size={28} aria-hidden className="muted" />
      <h2>Nothing matches</h2>
      <p>
        {what}
        {search.tag && ` with the ${search.tag.includes(",") ? "tags" : "tag"} “${search.tag.replaceAll(",", "”, “")}”`}
        {search.q && ` ${search.state ? "and matches" : "matches"} “${search.q}”`}.
      </p>
      <div className="actions">
        <button type="button" className="btn" onClick={onClear}>
          Clear the filters
        </button>
      </div>
    </div>
  );
}
