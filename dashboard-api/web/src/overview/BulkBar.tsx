import { Activity, Pause, Pencil, Play, Trash2, X } from "lucide-react";
import { lazy, Suspense, useState } from "react";
import { useLive } from "../app/live";
import type { TargetView } from "../live/store";
import { Confirm } from "../ui/Confirm";
import { count, plural } from "../ui/words";
import { MOST_TESTS, MOST_UNDONE, useBulk } from "./useBulk";
import "../styles/bulk.css";

const BulkEdit = lazy(() => import("./BulkEdit"));

/** What can be done to the selected targets, all at once. */
export function BulkBar({
  ids,
  matching,
  onSelectAll,
  onClear,
}: {
  ids: ReadonlySet<number>;
  matching: readonly number[];
  onSelectAll: () => void;
  onClear: () => void;
}) {
  const { store } = useLive();
  const bulk = useBulk();
  const [editing, setEditing] = useState(false);
  const [sure, setSure] = useState(false);
  const { progress } = bulk;
  if (progress) {
    const seen = progress.done + progress.failed;
    return (
      <section className="bulk" aria-label="Selected targets">
        <b>
          {progress.what} {count(seen)} of {count(progress.of)}
          {progress.failed > 0 && `, ${progress.failed} failed`}
        </b>
        <progress max={progress.of} value={seen} aria-label={progress.what} />
        <button type="button" className="btn push" onClick={bulk.stop}>
          Stop
        </button>
      </section>
    );
  }
  if (ids.size === 0) return null;
  const chosen = (): TargetView[] =>
    [...ids].map((id) => store.get(id)).filter((target): target is TargetView => target !== undefined);
  const all = matching.every((id) => ids.has(id));
  return (
    <section className="bulk" aria-label="Selected targets">
      <b>{count(ids.size)} selected</b>
      {!all && (
        <button type="button" className="link plain" onClick={onSelectAll}>
          Select all {count(matching.length)} matching
        </button>
      )}
      <div className="bulk-actions">
        <button type="button" className="btn" onClick={() => void bulk.activity(chosen(), false)}>
          <Pause size={15} aria-hidden /> Pause
        </button>
        <button type="button" className="btn" onClick={() => void bulk.activity(chosen(), true)}>
          <Play size={15} aria-hidden /> Resume
        </button>
        <button
          type="button"
          className="btn"
          disabled={ids.size > MOST_TESTS}
          title={ids.size > MOST_TESTS ? `At most ${MOST_TESTS} a minute` : undefined}
          onClick={() => void bulk.test(chosen())}
        >
          <Activity size={15} aria-hidden /> Test now
        </button>
        <button type="button" className="btn" onClick={() => setEditing(true)}>
          <Pencil size={15} aria-hidden /> Edit
        </button>
        <button
          type="button"
          className="btn danger"
          onClick={() => {
            if (ids.size > MOST_UNDONE) return setSure(true);
            bulk.remove(chosen());
            onClear();
          }}
        >
          <Trash2 size={15} aria-hidden /> Delete
        </button>
        <button type="button" className="icon-btn" aria-label="Select nothing" onClick={onClear}>
          <X size={17} aria-hidden />
        </button>
      </div>
      {sure && (
        <Confirm
          title={`Delete ${plural(ids.size, "target")}?`}
          act="Delete them"
          onClose={() => setSure(false)}
          onAct={async () => void bulk.removeNow(chosen())}
        >
          They and their history go. This cannot be undone, as it can be for up to {MOST_UNDONE} at a time.
        </Confirm>
      )}
      {editing && (
        <Suspense fallback={null}>
          <BulkEdit
            title={`Edit ${plural(ids.size, "target")}`}
            targets={chosen()}
            onSave={(edit) => void bulk.edit(chosen(), edit)}
            onClose={() => setEditing(false)}
          />
        </Suspense>
      )}
    </section>
  );
}
