import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { type MaintenanceWindow, maintenanceApi } from "../api/maintenance";
import { useLive } from "../app/live";
import { useToast } from "../app/toasts";
import { Choice } from "../targetform/HeartbeatFields";
import { Shortcuts } from "../targetform/Shortcuts";
import { ZoneField } from "../targetform/ZoneField";
import { ownZone } from "../targetform/zones";
import { DialogForm } from "../ui/DialogForm";
import { Field } from "../ui/Field";
import { problemsOf } from "../ui/problems";
import { TagInput } from "../ui/TagInput";
import { TargetPicker } from "../ui/TargetPicker";
import { useChanged } from "../ui/useChanged";
import { useProblems } from "../ui/useProblems";
import { duration } from "../ui/words";
import { t } from "../words/t";
import { bodyOf, changesOf, type Draft, draftOf, fields, type Repeat, weekdays } from "./draft";
import { Occurrences } from "./Occurrences";
import { fieldOf } from "./wall";

const repeats: [Repeat, string][] = [
  ["once", t("Once")],
  ["daily", t("Every day")],
  ["weekly", t("Every week")],
  ["monthly", t("Every month")],
  ["own", t("By a rule of {standard}", { standard: "RFC 5545" })],
];
const lengths = [0.5, 1, 2, 4, 8].map((hours): [string, string] => [duration(hours * 3600), String(hours)]);
const RULE_EXAMPLE = "FREQ=MONTHLY;BYDAY=1SU";
const AHEAD_MS = 3_600_000;

const fresh = (now: number): Draft => ({
  name: "",
  scope: "target",
  target: null,
  tags: [],
  starts: fieldOf(Math.ceil((now + AHEAD_MS) / AHEAD_MS) * AHEAD_MS, ownZone()),
  zone: ownZone(),
  hours: "1",
  repeat: "once",
  weekdays: [],
  monthly: "date",
  rule: "",
});

/** Plans maintenance, or changes it from now on, and shows when that will be. */
export default function WindowDialog({
  window: before,
  onClose,
}: {
  window: MaintenanceWindow | null;
  onClose: () => void;
}) {
  const queries = useQueryClient();
  const toast = useToast();
  const { store } = useLive();
  const { form, problems, refuse } = useProblems();
  const [draft, setDraft] = useState<Draft>(() => (before ? draftOf(before) : fresh(store.serverNow())));
  const entered = useChanged(draft);
  const change = (next: Partial<Draft>) => setDraft((old) => ({ ...old, ...next }));
  const parsed = useMemo(() => bodyOf(draft), [draft]);
  const save = useMutation({
    mutationFn: () =>
      before
        ? maintenanceApi.update(before.id, changesOf(before, parsed.body), before.version)
        : maintenanceApi.create(parsed.body),
    onSuccess: (saved) => {
      void queries.invalidateQueries({ queryKey: ["maintenance"] });
      toast({
        text: before
          ? t("{name} saved.", { name: saved.name })
          : t(saved.active ? "{name} holds now." : "{name} is planned.", { name: saved.name }),
      });
      onClose();
    },
    onError: (error) => {
      void queries.invalidateQueries({ queryKey: ["maintenance"] }); // opened again, it begins with what it is now
      refuse(problemsOf(error, fields, t("Somebody else changed this maintenance.")));
    },
  });
  const submit = () => {
    if (Object.keys(parsed.problems).length > 0) return refuse(parsed.problems);
    refuse({});
    if (before && Object.keys(changesOf(before, parsed.body)).length === 0) return onClose();
    save.mutate();
  };

  return (
    <DialogForm
      title={before ? t("Edit maintenance") : t("Plan maintenance")}
      form={form}
      problems={problems}
      busy={save.isPending}
      act={before ? t("Save changes") : t("Plan it")}
      acting={t("Saving")}
      entered={entered}
      onSubmit={submit}
      onClose={onClose}
    >
      {before?.begun && (
        <p className="muted">{t("What it has covered stays covered. Changes count from when they are saved.")}</p>
      )}
      <Field label={t("Name")} error={problems["/name"]} hint={t("Shown on public status pages that it concerns.")}>
        {(bound) => (
          <input
            {...bound}
            className="input"
            autoComplete="off"
            placeholder={t("Database upgrade")}
            value={draft.name}
            onChange={(event) => change({ name: event.target.value })}
          />
        )}
      </Field>
      <Choice
        label={t("For")}
        value={draft.scope}
        options={[
          ["target", t("One target")],
          ["tags", t("Tags")],
          ["everything", t("Everything")],
        ]}
        onChange={(scope) => change({ scope })}
      />
      {draft.scope === "target" && (
        <TargetPicker
          label={t("Target")}
          value={draft.target}
          error={problems["/target_id"] ?? problems["/everything"]}
          onChange={(target) => change({ target })}
        />
      )}
      {draft.scope === "tags" && (
        <TagInput
          label={t("Tags")}
          chosen={draft.tags}
          error={problems["/tags"] ?? problems["/everything"]}
          hint={t("For every target with one of them, as long as it has it. Enter or a comma ends one.")}
          onChange={(tags) => change({ tags })}
        />
      )}
      <Field
        label={t("Begins")}
        error={problems["/starts_at"]}
        hint={t("By the clock on the wall of the time zone below.")}
      >
        {(bound) => (
          <input
            {...bound}
            className="input"
            type="datetime-local"
            value={draft.starts}
            onChange={(event) => change({ starts: event.target.value })}
          />
        )}
      </Field>
      <Field label={t("Lasts (hours)")} error={problems["/duration_s"]}>
        {(bound) => (
          <div className="interval">
            <input
              {...bound}
              className="input"
              inputMode="decimal"
              autoComplete="off"
              value={draft.hours}
              onChange={(event) => change({ hours: event.target.value })}
            />
            <Shortcuts
              label={t("Common lengths")}
              of={lengths}
              chosen={(hours) => draft.hours === hours}
              onChoose={(hours) => change({ hours })}
            />
          </div>
        )}
      </Field>
      <ZoneField value={draft.zone} error={problems["/zone"]} onChange={(zone) => change({ zone })} />
      <Field label={t("Comes again")} error={draft.repeat === "own" ? undefined : problems["/rrule"]}>
        {(bound) => (
          <select
            {...bound}
            className="input"
            value={draft.repeat}
            onChange={(event) => change({ repeat: event.target.value as Repeat })}
          >
            {repeats.map(([value, label]) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </select>
        )}
      </Field>
      <RepeatFields draft={draft} problem={problems["/rrule"]} onChange={change} />
      <Occurrences body={parsed.body} ready={!parsed.problems["/starts_at"] && !parsed.problems["/duration_s"]} />
    </DialogForm>
  );
}

function RepeatFields({
  draft,
  problem,
  onChange,
}: {
  draft: Draft;
  problem: string | undefined;
  onChange: (change: Partial<Draft>) => void;
}) {
  if (draft.repeat === "weekly") {
    return (
      // biome-ignore lint/a11y/useSemanticElements: styled like the other fields
      <div className="chips" role="group" aria-label={t("On which days")}>
        {weekdays.map(([day, label]) => (
          <label key={day} className="chip">
            <input
              type="checkbox"
              checked={draft.weekdays.includes(day)}
              onChange={(event) =>
                onChange({
                  weekdays: event.target.checked
                    ? [...draft.weekdays, day]
                    : draft.weekdays.filter((one) => one !== day),
                })
              }
            />
            {label}
          </label>
        ))}
      </div>
    );
  }
  if (draft.repeat === "monthly") {
    return (
      <Choice
        label={t("On which day")}
        value={draft.monthly}
        options={[
          ["date", t("Same date")],
          ["weekday", t("Same weekday")],
          ["last", t("Last day")],
        ]}
        onChange={(monthly) => onChange({ monthly: monthly as Draft["monthly"] })}
      />
    );
  }
  if (draft.repeat !== "own") return null;
  return (
    <Field label={t("Rule")} error={problem} hint={t("Days only: the time of day is that of the beginning.")}>
      {(bound) => (
        <input
          {...bound}
          className="input mono"
          autoComplete="off"
          spellCheck={false}
          placeholder={RULE_EXAMPLE}
          value={draft.rule}
          onChange={(event) => onChange({ rule: event.target.value })}
        />
      )}
    </Field>
  );
}
