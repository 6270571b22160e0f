import { type FormEvent, lazy, Suspense, useMemo, useRef, useState } from "react";
import { ApiError } from "../api/client";
import type { BatchSet } from "../api/types";
import { useList, useLive } from "../app/live";
import type { TargetView } from "../live/store";
import { policyOf, type RuleDraft, ruleDraftOf } from "../rule/rule";
import { Checks } from "../settings/Checks";
import { type Row, rowProblems } from "../targetform/assertions";
import { Select } from "../targetform/controls";
import { hasStatus } from "../targetform/form";
import { pointed } from "../targetform/ruling";
import { Dialog } from "../ui/Dialog";
import { Field } from "../ui/Field";
import { briefly, type Problems } from "../ui/problems";
import { TagInput } from "../ui/TagInput";
import { TargetPicker } from "../ui/TargetPicker";
import { sortedTags } from "../ui/tags";
import { useProblems } from "../ui/useProblems";
import { linesOf } from "./preview";
import { type Trial, useTrial } from "./useTrial";
import "../styles/dialog.css";
import { Rich } from "../words/Rich";
import { t } from "../words/t";

const AssertionRows = lazy(() => import("../targetform/AssertionRows"));
const RulePart = lazy(() => import("../targetform/RulePart"));

const SHOWN = 12;

interface Draft {
  interval: string;
  timeout: string;
  status: string;
  /** Empty: it stays. */
  family: "" | "both" | "4" | "6";
  add: string[];
  remove: string[];
  setRegions: boolean;
  regions: string[];
  setParent: boolean;
  parent: number | null;
  setAssertions: boolean;
  assertions: Row[];
  setRule: boolean;
  rule: RuleDraft;
}

const untouched: Draft = {
  interval: "",
  timeout: "",
  status: "",
  family: "",
  add: [],
  remove: [],
  setRegions: false,
  regions: [],
  setParent: false,
  parent: null,
  setAssertions: false,
  assertions: [],
  setRule: false,
  rule: ruleDraftOf({}),
};

function setOf(draft: Draft): { set: BatchSet; problems: Problems } {
  const set: BatchSet = {};
  const problems: Problems = {};
  const interval = Number(draft.interval);
  if (draft.interval.trim() !== "") {
    if (Number.isInteger(interval) && interval >= 10 && interval <= 86_400) set.interval_s = interval;
    else problems["/interval_s"] = t("Enter 10 to 86400 whole seconds.");
  }
  const timeout = Math.round(Number(draft.timeout) * 1000);
  if (draft.timeout.trim() !== "") {
    if (timeout >= 100 && timeout <= 30_000) set.timeout_ms = timeout;
    else problems["/timeout_ms"] = t("Enter 0.1 to 30 seconds.");
  }
  const status = draft.status.split(/[\s,]+/).filter(Boolean);
  if (status.length > 0) set.expect = { status };
  if (draft.family !== "") set.family = draft.family === "both" ? null : draft.family;
  if (draft.add.length > 0) set.add_tags = draft.add;
  if (draft.remove.length > 0) set.remove_tags = draft.remove;
  if (draft.setRegions) set.regions = [...draft.regions].sort();
  if (draft.setParent) set.parent_id = draft.parent;
  if (draft.setAssertions) set.assertions = draft.assertions.map(({ of }) => of);
  if (draft.setRule) {
    const rule = policyOf(draft.rule);
    if (rule.ok) set.policy = rule.policy;
    else Object.assign(problems, pointed(rule.errors));
  }
  return { set, problems };
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
  onSave: (set: BatchSet) => void;
  onClose: () => void;
}) {
  const { regions } = useList();
  const { form, problems, refuse } = useProblems();
  const [draft, setDraft] = useState(untouched);
  const [kept] = useState(targets); // as they were when the dialog was opened
  const ids = useMemo(() => kept.map(({ id }) => id), [kept]);
  const there = useMemo(() => sortedTags(kept.flatMap((target) => target.tags)), [kept]);
  const parsed = useMemo(() => setOf(draft), [draft]);
  const { trial, current, error } = useTrial(ids, parsed.set);
  const probed = useMemo(() => kept.find(({ kind }) => kind !== "heartbeat")?.url, [kept]); // of the first kind that has assertions
  const rowAdded = useRef(false);
  const nothing = Object.keys(parsed.set).length === 0;
  const changed = nothing ? 0 : current && trial ? trial.changed : null; // null: not known yet
  const change = (what: Partial<Draft>) => setDraft((old) => ({ ...old, ...what }));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (Object.keys(parsed.problems).length > 0) return refuse(parsed.problems);
    if (changed !== 0) onSave(parsed.set);
    onClose();
  };
  const text = (field: "interval" | "timeout" | "status", label: string, pointer: string) => (
    <Field label={label} error={problems[pointer]} hint={t("Empty: stays as it is.")}>
      {(bound) => (
        <input
          {...bound}
          className="input"
          inputMode={field === "status" ? "text" : "decimal"}
          autoComplete="off"
          value={draft[field]}
          onChange={(event) => change({ [field]: event.target.value })}
        />
      )}
    </Field>
  );
  const chip = (field: "setRegions" | "setParent" | "setAssertions" | "setRule", label: string) => (
    <label className="chip">
      <input type="checkbox" checked={draft[field]} onChange={(event) => change({ [field]: event.target.checked })} />
      {label}
    </label>
  );
  return (
    <Dialog title={title} onClose={onClose}>
      <form ref={form} onSubmit={submit} noValidate>
        <div className="dialog-body">
          {text("interval", t("Check every (seconds)"), "/interval_s")}
          {text("timeout", t("Timeout (seconds)"), "/timeout_ms")}
          {kept.some(({ url }) => hasStatus(url)) && text("status", t("Expected status codes"), "/expect")}
          <Select
            label={t("Addresses")}
            error={problems["/family"]}
            value={draft.family}
            options={[
              ["", t("Stays as it is")],
              ["both", "IPv4, IPv6"],
              ["4", "IPv4"],
              ["6", "IPv6"],
            ]}
            onChange={(family) => change({ family })}
          />
          <TagInput
            label={t("Add tags")}
            chosen={draft.add}
            onChange={(add) => change({ add, remove: draft.remove.filter((tag) => !add.includes(tag)) })}
          />
          {there.length > 0 && (
            <Checks
              label={t("Remove tags")}
              of={there.map((tag) => [tag, tag] as const)}
              chosen={draft.remove}
              onChange={(remove) => change({ remove, add: draft.add.filter((tag) => !remove.includes(tag)) })}
            />
          )}
          <div className="chips">
            {chip("setRegions", t("Set the regions"))}
            {chip("setParent", t("Set what they depend on"))}
            {probed !== undefined && chip("setAssertions", t("Set the assertions"))}
            {chip("setRule", t("Set the rule"))}
          </div>
          {draft.setRegions && (
            <Checks
              label={t("Regions")}
              hint={t("None chosen: every region, also those that join later.")}
              of={regions.map(({ region }) => [region, region] as const)}
              chosen={draft.regions}
              onChange={(chosen) => change({ regions: chosen })}
            />
          )}
          {draft.setParent && (
            <TargetPicker
              label={t("Depends on")}
              value={draft.parent}
              clearable
              none={t("Nothing")}
              onChange={(parent) => change({ parent })}
            />
          )}
          {draft.setAssertions && probed !== undefined && (
            <Suspense fallback={<span className="skeleton" style={{ height: 36 }} />}>
              <AssertionRows
                url={probed}
                rows={draft.assertions}
                added={rowAdded}
                problem={undefined}
                problems={
                  current && trial?.changed === 0 && trial.refused[0]
                    ? rowProblems(trial.refused[0].problem, draft.assertions)
                    : {}
                }
                onChange={(assertions) => change({ assertions })}
              />
            </Suspense>
          )}
          {draft.setRule && (
            <Suspense fallback={<span className="skeleton" style={{ height: 180 }} />}>
              <RulePart
                id={null}
                draft={draft.rule}
                errors={problems}
                onChange={(rule) => change({ rule: { ...draft.rule, ...rule } })}
              />
            </Suspense>
          )}
          <Preview trial={nothing ? null : trial} error={nothing ? null : error} known={current} of={kept} />
        </div>
        <div className="dialog-foot">
          <button type="button" className="btn" onClick={onClose}>
            {t("Cancel")}
          </button>
          <button type="submit" className="btn primary">
            {changed === null
              ? t("Save changes")
              : changed === 0
                ? t("Close")
                : t("{n, plural, one {Change # target} other {Change # targets}}", { n: changed })}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

/** What would change, and what would not be; the last that was known while that is found out again. */
function Preview({
  trial,
  error,
  known,
  of,
}: {
  trial: Trial | null;
  error: unknown;
  known: boolean;
  of: readonly TargetView[];
}) {
  const { store } = useLive();
  const nameOf = (id: number) => store.get(id)?.name ?? t("Target {id}", { id: String(id) });
  const lines = trial ? linesOf(trial.before, trial.set, nameOf) : [];
  const refused = trial?.refused[0];
  return (
    <div className="bulk-preview" aria-busy={!known}>
      <h3>
        {trial && trial.changed > 0
          ? t("{n, plural, one {# target will change} other {# targets will change}}", { n: trial.changed })
          : t("Nothing changes yet")}
      </h3>
      <ul>
        {lines.slice(0, SHOWN).map((line) => (
          <li key={`${line.field} ${line.from} ${line.to}`}>
            <Rich
              text="{field}: {from} → {to} <muted>{n, plural, one {for # target} other {for # targets}}</muted>"
              {...line}
              muted={(inner) => <span className="muted">{inner}</span>}
            />
          </li>
        ))}
        {lines.length > SHOWN && (
          <li className="muted">
            {t("{n, plural, one {and # more} other {and # more}}", { n: lines.length - SHOWN })}
          </li>
        )}
      </ul>
      {trial && refused && (
        <p className="problem">
          {t("{n, plural, one {# target stays as it is.} other {# targets stay as they are.}}", {
            n: trial.refused.length,
          })}{" "}
          {t("{name}: {why}", {
            name: of.find(({ id }) => id === refused.id)?.name ?? nameOf(refused.id),
            why: briefly(new ApiError(refused.problem)),
          })}
        </p>
      )}
      {error !== null && <p className="problem">{briefly(error)}</p>}
    </div>
  );
}
