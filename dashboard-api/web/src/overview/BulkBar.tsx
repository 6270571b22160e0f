import { Activity, EyeOff, Pause, Pencil, Play, Trash2, X } from "lucide-react";
import { lazy, Suspense, useMemo, useState } from "react";
import { useLive } from "../app/live";
import type { TargetView } from "../live/store";
import { Confirm } from "../ui/Confirm";
import { hiddenOf } from "./selection";
import { MOST_TESTS, MOST_UNDONE, useBulk } from "./useBulk";
import "../styles/bulk.css";
import { t } from "../words/t";

const BulkEdit = lazy(() => import("./BulkEdit"));

/** What can be done to the selected targets, all at once. */
export default function BulkBar({
  ids,
  matching,
  onSelectAll,
  onSelect,
  onClear,
}: {
  ids: ReadonlySet<number>;
  matching: readonly number[];
  onSelectAll: () => void;
  onSelect: (ids: ReadonlySet<number>) => void;
  onClear: () => void;
}) {
  const { store } = useLive();
  const bulk = useBulk();
  const [editing, setEditing] = useState(false);
  const [sure, setSure] = useState(false);
  const { progress } = bulk;
  const hidden = useMemo(() => hiddenOf(ids, matching), [ids, matching]);
  if (progress) {
    const seen = progress.done + progress.failed;
    return (
      <section className="bulk" aria-label={t("Selected targets")}>
        <b>
          {t("{what} {n, number} of {all, number}{failed, plural, =0 {} one {, # failed} other {, # failed}}", {
            what: progress.what,
            n: seen,
            all: progress.of,
            failed: progress.failed,
          })}
        </b>
        <progress max={progress.of} value={seen} aria-label={progress.what} />
        <button type="button" className="btn push" onClick={bulk.stop}>
          {t("Stop")}
        </button>
      </section>
    );
  }
  if (ids.size === 0) return null;
  const chosen = (): TargetView[] =>
    [...ids].map((id) => store.get(id)).filter((target): target is TargetView => target !== undefined);
  const all = matching.every((id) => ids.has(id));
  return (
    <section className="bulk" aria-label={t("Selected targets")}>
      <b>{t("{n, plural, one {# selected} other {# selected}}", { n: ids.size })}</b>
      {hidden.size > 0 && (
        <>
          <span className="bulk-hidden">
            <EyeOff size={15} aria-hidden />
            {t("{n, number} not shown by the filter", { n: hidden.size })}
          </span>
          <button
            type="button"
            className="link plain"
            onClick={() => onSelect(new Set([...ids].filter((id) => !hidden.has(id))))}
          >
            {t("Select only those shown")}
          </button>
        </>
      )}
      {!all && (
        <button type="button" className="link plain" onClick={onSelectAll}>
          {t("{n, plural, one {Select all # matching} other {Select all # matching}}", { n: matching.length })}
        </button>
      )}
      <div className="bulk-actions">
        <button type="button" className="btn" onClick={() => void bulk.activity(chosen(), false)}>
          <Pause size={15} aria-hidden /> {t("Pause")}
        </button>
        <button type="button" className="btn" onClick={() => void bulk.activity(chosen(), true)}>
          <Play size={15} aria-hidden /> {t("Resume")}
        </button>
        <button
          type="button"
          className="btn"
          disabled={ids.size > MOST_TESTS}
          title={ids.size > MOST_TESTS ? t("At most {n, number} a minute", { n: MOST_TESTS }) : undefined}
          onClick={() => void bulk.test(chosen())}
        >
          <Activity size={15} aria-hidden /> {t("Test now")}
        </button>
        <button type="button" className="btn" onClick={() => setEditing(true)}>
          <Pencil size={15} aria-hidden /> {t("Edit")}
        </button>
        <button
          type="button"
          className="btn danger"
          onClick={() => {
            if (ids.size > MOST_UNDONE || hidden.size > 0) return setSure(true);
            bulk.remove(chosen());
            onClear();
          }}
        >
          <Trash2 size={15} aria-hidden /> {t("Delete")}
        </button>
        <button type="button" className="icon-btn" aria-label={t("Select nothing")} onClick={onClear}>
          <X size={17} aria-hidden />
        </button>
      </div>
      {sure && (
        <Confirm
          title={t("{n, plural, one {Delete # target?} other {Delete # targets?}}", { n: ids.size })}
          act={t("Delete them")}
          onClose={() => setSure(false)}
          {...(hidden.size > 0 && {
            consequences: [t("Not shown by the filter: {n, number} of them.", { n: hidden.size })],
          })}
          onAct={async () => {
            if (ids.size > MOST_UNDONE) return void bulk.removeNow(chosen());
            bulk.remove(chosen());
            onClear();
          }}
        >
          {ids.size > MOST_UNDONE
            ? t("They and their history go. This cannot be undone, as it can be for up to {n, number} at a time.", {
                n: MOST_UNDONE,
              })
            : t("They and their history go. For a few seconds this can be undone.")}
        </Confirm>
      )}
      {editing && (
        <Suspense fallback={null}>
          <BulkEdit
            title={t("{n, plural, one {Edit # target} other {Edit # targets}}", { n: ids.size })}
            targets={chosen()}
            onSave={(edit) => void bulk.edit(chosen(), edit)}
            onClose={() => setEditing(false)}
          />
        </Suspense>
      )}
    </section>
  );
}
