import { Plus, SearchX } from "lucide-react";
import type { OverviewSearch } from "../app/router";
import { listed, stateWords } from "../ui/words";
import { Rich } from "../words/Rich";
import { t } from "../words/t";

const picture = Array.from({ length: 30 }, (_, i) => i * 6 + 1);

/** Nothing is watched yet: says what to do and what happens then; to who may not do it, who may. */
export function FirstTarget({ onAdd }: { onAdd: (() => void) | null }) {
  return (
    <div className="empty">
      <svg width="180" height="40" viewBox="0 0 180 40" aria-hidden className="empty-ticks">
        {picture.map((x) => (
          <rect key={x} x={x} y={x === 127 ? 18 : 6} width={x === 127 ? 5 : 3} height={x === 127 ? 18 : 28} rx="1.5" />
        ))}
      </svg>
      {onAdd ? (
        <>
          <h2>{t("Watch your first URL")}</h2>
          <p>
            {t(
              "Paste an address. It is checked from every region, and each check becomes one tick here, from the first one on.",
            )}
          </p>
          <div className="actions">
            <button type="button" className="btn primary" onClick={onAdd}>
              <Plus size={16} aria-hidden /> {t("Add target")}
            </button>
          </div>
          <p className="muted">
            <Rich text="or press {shortcut}" shortcut={<kbd>c</kbd>} />
          </p>
        </>
      ) : (
        <>
          <h2>{t("Nothing is watched yet")}</h2>
          <p>{t("Editors and owners add what is watched. Each check becomes one tick here.")}</p>
        </>
      )}
    </div>
  );
}

/** What was looked for, in one sentence. */
function wanted({ state, tag, q = "" }: OverviewSearch): string {
  const all = tag?.split(",") ?? [];
  const said = {
    state: state ? stateWords[state] : "",
    n: all.length,
    tags: listed(all.map((one) => t("“{tag}”", { tag: one }))),
    q,
  };
  if (!state && !tag) return t("No target matches “{q}”.", said);
  if (!state)
    return t(
      q
        ? "No target with the {n, plural, one {tag} other {tags}} {tags} matches “{q}”."
        : "No target with the {n, plural, one {tag} other {tags}} {tags}.",
      said,
    );
  if (!tag)
    return t(
      q ? "No target is in the state “{state}” and matches “{q}”." : "No target is in the state “{state}”.",
      said,
    );
  return t(
    q
      ? "No target is in the state “{state}” with the {n, plural, one {tag} other {tags}} {tags} and matches “{q}”."
      : "No target is in the state “{state}” with the {n, plural, one {tag} other {tags}} {tags}.",
    said,
  );
}

export function NothingMatches({ search, onClear }: { search: OverviewSearch; onClear: () => void }) {
  return (
    <div className="empty">
      <SearchX size={28} aria-hidden className="muted" />
      <h2>{t("Nothing matches")}</h2>
      {(search.q || search.state || search.tag) && <p>{wanted(search)}</p>}
      {search.region && <p>{t("Only targets checked from {region} are shown.", { region: search.region })}</p>}
      <div className="actions">
        <button type="button" className="btn" onClick={onClear}>
          {t("Clear the filters")}
        </button>
      </div>
    </div>
  );
}
