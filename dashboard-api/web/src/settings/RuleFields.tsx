import { Plus, Trash2, X } from "lucide-react";
import type { Channel } from "../api/alerts";
import { useLive } from "../app/live";
import { ZoneField } from "../targetform/ZoneField";
import { Field } from "../ui/Field";
import type { Problems } from "../ui/problems";
import { TargetPicker } from "../ui/TargetPicker";
import { stateWords } from "../ui/words";
import { Rich } from "../words/Rich";
import { t } from "../words/t";
import { Checks } from "./Checks";
import { HoursFields } from "./HoursFields";
import { newKey, type RuleDraft, type StepDraft, severities } from "./rules";

const severityOptions = severities.map((one) => [one, stateWords[one]] as const);

/** Which incidents, to whom, and when. */
export function RuleFields({
  draft,
  problems,
  channels,
  onChange,
}: {
  draft: RuleDraft;
  problems: Problems;
  channels: readonly Channel[];
  onChange: (change: Partial<RuleDraft>) => void;
}) {
  const { store } = useLive();
  const options = channels.map(
    (one) => [one.id, one.enabled ? one.name : t("{name} (off)", { name: one.name })] as const,
  );
  const text = (field: "name" | "tags" | "reminder" | "digest", pointer: string, label: string, hint?: string) => (
    <Field label={label} error={problems[pointer]} hint={hint}>
      {(bound) => (
        <input
          {...bound}
          className="input"
          autoComplete="off"
          inputMode={field === "reminder" || field === "digest" ? "numeric" : undefined}
          value={draft[field]}
          onChange={(event) => onChange({ [field]: event.target.value })}
        />
      )}
    </Field>
  );
  return (
    <>
      {text("name", "/name", t("Name"))}
      <Checks
        label={t("Incidents that are")}
        hint={t("None chosen: all.")}
        error={problems["/severities"]}
        of={severityOptions}
        chosen={draft.severities}
        onChange={(chosen) => onChange({ severities: chosen })}
      />
      <div className="stack">
        <TargetPicker
          label={t("Of these targets")}
          value={null}
          error={problems["/target_ids"]}
          hint={t("Neither targets nor tags: of all.")}
          onChange={(id) => id !== null && !draft.targets.includes(id) && onChange({ targets: [...draft.targets, id] })}
        />
        {draft.targets.length > 0 && (
          <div className="chips">
            {draft.targets.map((id) => (
              <button
                key={id}
                type="button"
                className="chip"
                onClick={() => onChange({ targets: draft.targets.filter((one) => one !== id) })}
              >
                {store.get(id)?.name ?? t("Target {id}", { id })} <X size={14} aria-label={t("Remove")} />
              </button>
            ))}
          </div>
        )}
      </div>
      {text("tags", "/tags", t("Or of targets with a tag (optional)"), t("Separated by commas."))}
      <Checks
        label={t("Tell")}
        error={problems["/channel_ids"]}
        of={options}
        chosen={draft.channels}
        onChange={(chosen) => onChange({ channels: chosen })}
      />
      <Steps
        steps={draft.steps}
        options={options}
        error={problems["/escalations"]}
        onChange={(steps) => onChange({ steps })}
      />
      <div className="two">
        {text("reminder", "/reminder_minutes", t("Remind every (minutes)"), t("Empty: never. Ends when acknowledged."))}
        {text("digest", "/digest_minutes", t("Tell together every (minutes)"), t("Empty: each at once."))}
      </div>
      <div className="chips">
        <label className="chip">
          <input
            type="checkbox"
            checked={draft.resolved}
            onChange={(event) => onChange({ resolved: event.target.checked })}
          />
          {t("Tell when it is resolved")}
        </label>
        <label className="chip">
          <input
            type="checkbox"
            checked={draft.acknowledged}
            onChange={(event) => onChange({ acknowledged: event.target.checked })}
          />
          {t("Tell when it is acknowledged")}
        </label>
      </div>
      <HoursFields
        label={t("Quiet hours")}
        add={t("Add quiet hours")}
        hint={t("What happens then is told at their end, if it is not over by then.")}
        error={problems["/quiet_hours"]}
        hours={draft.quiet}
        usual={{ days: [], from: "22:00", to: "07:00" }}
        onChange={(quiet) => onChange({ quiet })}
      />
      {draft.quiet.length > 0 && (
        <Checks
          label={t("Told in quiet hours, too")}
          of={severityOptions}
          error={problems["/quiet_lets_through"]}
          chosen={draft.quietLets}
          onChange={(quietLets) => onChange({ quietLets })}
        />
      )}
      <HoursFields
        label={t("Hours of the rule")}
        add={t("Add hours of the rule")}
        hint={t("It speaks only then. None: always.")}
        error={problems["/schedule"]}
        hours={draft.schedule}
        usual={{ days: ["mon", "tue", "wed", "thu", "fri"], from: "08:00", to: "18:00" }}
        onChange={(schedule) => onChange({ schedule })}
      />
      {(draft.quiet.length > 0 || draft.schedule.length > 0) && (
        <ZoneField value={draft.zone} error={problems["/zone"]} onChange={(zone) => onChange({ zone })} />
      )}
    </>
  );
}

function Steps({
  steps,
  options,
  error,
  onChange,
}: {
  steps: StepDraft[];
  options: readonly (readonly [number, string])[];
  error: string | undefined;
  onChange: (steps: StepDraft[]) => void;
}) {
  const set = (key: number, change: Partial<StepDraft>) =>
    onChange(steps.map((one) => (one.key === key ? { ...one, ...change } : one)));
  return (
    <fieldset className="stack">
      <legend>{t("Escalations")}</legend>
      <p className="hint muted">{t("Whom else, when nobody has acknowledged by then.")}</p>
      {error && (
        <p className="banner bad" role="alert" tabIndex={-1}>
          {error}
        </p>
      )}
      {steps.map((step) => (
        <div key={step.key} className="step-row">
          <div className="row">
            <Rich
              text="After {minutes} minutes"
              minutes={
                <input
                  className="input"
                  inputMode="numeric"
                  aria-label={t("Minutes after the incident was opened")}
                  value={step.minutes}
                  onChange={(event) => set(step.key, { minutes: event.target.value })}
                />
              }
            />
            <button
              type="button"
              className="icon-btn push"
              aria-label={t("Remove this escalation")}
              onClick={() => onChange(steps.filter((one) => one !== step))}
            >
              <Trash2 size={16} aria-hidden />
            </button>
          </div>
          <Checks
            label={t("Tell")}
            of={options}
            chosen={step.channels}
            onChange={(channels) => set(step.key, { channels })}
          />
        </div>
      ))}
      <div>
        <button
          type="button"
          className="btn"
          onClick={() => onChange([...steps, { key: newKey(), minutes: "15", channels: [] }])}
        >
          <Plus size={15} aria-hidden /> {t("Add escalation")}
        </button>
      </div>
    </fieldset>
  );
}
