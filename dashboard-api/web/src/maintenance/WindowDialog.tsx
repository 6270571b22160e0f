import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { maintenanceApi } from "../api/maintenance";
import { useToast } from "../app/toasts";
import { Choice } from "../targetform/HeartbeatFields";
import { Shortcuts } from "../targetform/Shortcuts";
import { ZoneField } from "../targetform/ZoneField";
import { ownZone } from "../targetform/zones";
import { DialogForm } from "../ui/DialogForm";
import { Field } from "../ui/Field";
import { problemsOf } from "../ui/problems";
import { TargetPicker } from "../ui/TargetPicker";
import { useProblems } from "../ui/useProblems";
import { bodyOf, type Draft, fields, type Repeat, weekdays } from "./draft";
import { Occurrences } from "./Occurrences";
import { fieldOf } from "./wall";

const repeats: [Repeat, string][] = [
  ["once", "Once"],
  ["daily", "Every day"],
  ["weekly", "Every week"],
  ["monthly", "Every month"],
  ["own", "By a rule of RFC 5545"],
];
const lengths: [string, string][] = [
  ["30 min", "0.5"],
  ["1 h", "1"],
  ["2 h", "2"],
  ["4 h", "4"],
  ["8 h", "8"],
];
const AHEAD_MS = 3_600_000;

/** Plans maintenance, and shows when that will be. */
export default function WindowDialog({ onClose }: { onClose: () => void }) {
  const queries = useQueryClient();
  const toast = useToast();
  const { form, problems, refuse } = useProblems();
  const [draft, setDraft] = useState<Draft>(() => ({
    name: "",
    everything: false,
    target: null,
    starts: fieldOf(Math.ceil((Date.now() + AHEAD_MS) / AHEAD_MS) * AHEAD_MS, ownZone()),
    zone: ownZone(),
    hours: "1",
    repeat: "once",
    weekdays: [],
    monthly: "date",
    rule: "",
  }));
  const change = (next: Partial<Draft>) => setDraft((old) => ({ ...old, ...next }));
  const parsed = useMemo(() => bodyOf(draft), [draft]);
  const save = useMutation({
    mutationFn: maintenanceApi.create,
    onSuccess: (created) => {
      void queries.invalidateQueries({ queryKey: ["maintenance"] });
      toast({ text: created.active ? `${created.name} holds now.` : `${created.name} is planned.` });
      onClose();
    },
    onError: (error) => refuse(problemsOf(error, fields)),
  });
  const submit = () => {
    if (Object.keys(parsed.problems).length > 0) return refuse(parsed.problems);
    refuse({});
    save.mutate(parsed.body);
  };

  return (
    <DialogForm
      title="Plan maintenance"
      form={form}
      problems={problems}
      busy={save.isPending}
      act="Plan it"
      acting="Saving"
      onSubmit={submit}
      onClose={onClose}
    >
      <Field label="Name" error={problems["/name"]}>
        {(bound) => (
          <input
            {...bound}
            className="input"
            autoComplete="off"
            placeholder="Database upgrade"
            value={draft.name}
            onChange={(event) => change({ name: event.target.value })}
          />
        )}
      </Field>
      <Choice
        label="For"
        value={draft.everything ? "everything" : "target"}
        options={[
          ["target", "One target"],
          ["everything", "Everything"],
        ]}
        onChange={(value) => change({ everything: value === "everything" })}
      />
      {!draft.everything && (
        <TargetPicker
          label="Target"
          value={draft.target}
          error={problems["/target_id"] ?? problems["/everything"]}
          onChange={(target) => change({ target })}
        />
      )}
      <Field label="Begins" error={problems["/starts_at"]} hint="By the clock on the wall of the time zone below.">
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
      <Field label="Lasts (hours)" error={problems["/duration_s"]}>
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
              label="Common lengths"
              of={lengths}
              chosen={(hours) => draft.hours === hours}
              onChoose={(hours) => change({ hours })}
            />
          </div>
        )}
      </Field>
      <ZoneField value={draft.zone} error={problems["/zone"]} onChange={(zone) => change({ zone })} />
      <Field label="Comes again" error={draft.repeat === "own" ? undefined : problems["/rrule"]}>
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
      <div className="chips" role="group" aria-label="On which days">
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
        label="On which day"
        value={draft.monthly}
        options={[
          ["date", "Same date"],
          ["weekday", "Same weekday"],
          ["last", "Last day"],
        ]}
        onChange={(monthly) => onChange({ monthly: monthly as Draft["monthly"] })}
      />
    );
  }
  if (draft.repeat !== "own") return null;
  return (
    <Field label="Rule" error={problem} hint="Days only: the time of day is that of the beginning.">
      {(bound) => (
        <input
          {...bound}
          className="input mono"
          autoComplete="off"
          spellCheck={false}
          placeholder="FREQ=MONTHLY;BYDAY=1SU"
          value={draft.rule}
          onChange={(event) => onChange({ rule: event.target.value })}
        />
      )}
    </Field>
  );
}
