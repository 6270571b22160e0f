import { type FormEvent, useMemo, useState } from "react";
import { useList } from "../app/live";
import type { TargetView } from "../live/store";
import { Checks } from "../settings/Checks";
import { Dialog } from "../ui/Dialog";
import { Field } from "../ui/Field";
import type { Problems } from "../ui/problems";
import { TagInput } from "../ui/TagInput";
import { sortedTags } from "../ui/tags";
import { useProblems } from "../ui/useProblems";
import { changes, type Edit, preview } from "./selection";
import "../styles/dialog.css";
import { Rich } from "../words/Rich";
import { t } from "../words/t";

interface Draft {
  interval: string;
  timeout: string;
  setRegions: boolean;
  regions: string[];
  add: string[];
  remove: string[];
}

function editOf(draft: Draft): { edit: Edit; problems: Problems } {
  const edit: Edit = {};
  const problems: Problems = {};
  const interval = Number(draft.interval);
  if (draft.interval.trim() !== "") {
    if (Number.isInteger(interval) && interval >= 10 && interval <= 86_400) edit.interval_s = interval;
    else problems["/interval_s"] = t("Enter 10 to 86400 whole seconds.");
  }
  const timeout = Math.round(Number(draft.timeout) * 1000);
  if (draft.timeout.trim() !== "") {
    if (timeout >= 100 && timeout <= 30_000) edit.timeout_ms = timeout;
    else problems["/timeout_ms"] = t("Enter 0.1 to 30 seconds.");
  }
  if (draft.setRegions) edit.regions = [...draft.regions].sort();
  if (draft.add.length > 0) edit.add_tags = draft.add;
  if (draft.remove.length > 0) edit.remove_tags = draft.remove;
  return { edit, problems };
}

/** Changes fields of many targets; what is left empty stays as it is. Shows what would change before it does. */
export default function BulkEdit({
  title,
  targets,
  onSave,
  onClose,
}: {
  title: string;
  targets: TargetView[];
  onSave: (edit: Edit) => void;
  onClose: () => void;
}) {
  const { regions } = useList();
  const { form, problems, refuse } = useProblems();
  const [draft, setDraft] = useState<Draft>({
    interval: "",
    timeout: "",
    setRegions: false,
    regions: [],
    add: [],
    remove: [],
  });
  const [kept] = useState(targets); // as they were when the dialog was opened
  const there = useMemo(() => sortedTags(kept.flatMap((target) => target.tags)), [kept]);
  const parsed = useMemo(() => editOf(draft), [draft]);
  const lines = useMemo(() => preview(kept, parsed.edit), [kept, parsed]);
  const changed = useMemo(() => kept.filter((target) => changes(target, parsed.edit)).length, [kept, parsed]);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (Object.keys(parsed.problems).length > 0) return refuse(parsed.problems);
    if (changed > 0) onSave(parsed.edit);
    onClose();
  };
  const text = (field: "interval" | "timeout", label: string, pointer: string) => (
    <Field label={label} error={problems[pointer]} hint={t("Empty: stays as it is.")}>
      {(bound) => (
        <input
          {...bound}
          className="input"
          inputMode="decimal"
          autoComplete="off"
          value={draft[field]}
          onChange={(event) => setDraft({ ...draft, [field]: event.target.value })}
        />
      )}
    </Field>
  );
  return (
    <Dialog title={title} onClose={onClose}>
      <form ref={form} onSubmit={submit} noValidate>
        <div className="dialog-body">
          {text("interval", t("Check every (seconds)"), "/interval_s")}
          {text("timeout", t("Timeout (seconds)"), "/timeout_ms")}
          <TagInput
            label={t("Add tags")}
            chosen={draft.add}
            onChange={(add) => setDraft({ ...draft, add, remove: draft.remove.filter((tag) => !add.includes(tag)) })}
          />
          {there.length > 0 && (
            <Checks
              label={t("Remove tags")}
              of={there.map((tag) => [tag, tag] as const)}
              chosen={draft.remove}
              onChange={(remove) =>
                setDraft({ ...draft, remove, add: draft.add.filter((tag) => !remove.includes(tag)) })
              }
            />
          )}
          <label className="chip">
            <input
              type="checkbox"
              checked={draft.setRegions}
              onChange={(event) => setDraft({ ...draft, setRegions: event.target.checked })}
            />
            {t("Set the regions")}
          </label>
          {draft.setRegions && (
            <Checks
              label={t("Regions")}
              hint={t("None chosen: every region, also those that join later.")}
              of={regions.map(({ region }) => [region, region] as const)}
              chosen={draft.regions}
              onChange={(chosen) => setDraft({ ...draft, regions: chosen })}
            />
          )}
          <div className="bulk-preview">
            <h3>
              {changed === 0
                ? t("Nothing changes yet")
                : t("{n, plural, one {# target will change} other {# targets will change}}", { n: changed })}
            </h3>
            <ul>
              {lines.slice(0, 12).map((line) => (
                <li key={`${line.field} ${line.from}`}>
                  <Rich
                    text="{field}: {from} → {to} <muted>{n, plural, one {for # target} other {for # targets}}</muted>"
                    {...line}
                    muted={(inner) => <span className="muted">{inner}</span>}
                  />
                </li>
              ))}
              {lines.length > 12 && (
                <li className="muted">
                  {t("{n, plural, one {and # more} other {and # more}}", { n: lines.length - 12 })}
                </li>
              )}
            </ul>
          </div>
        </div>
        <div className="dialog-foot">
          <button type="button" className="btn" onClick={onClose}>
            {t("Cancel")}
          </button>
          <button type="submit" className="btn primary">
            {changed === 0
              ? t("Close")
              : t("{n, plural, one {Change # target} other {Change # targets}}", { n: changed })}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
