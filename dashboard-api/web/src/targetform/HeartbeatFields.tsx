import { Field } from "../ui/Field";
import { duration } from "../ui/words";
import { t } from "../words/t";
import type { Errors } from "./form";
import { type HeartbeatDraft, type Length, lengthOf, type Unit, units } from "./heartbeat";
import { Shortcuts } from "./Shortcuts";
import { ZoneField } from "./ZoneField";

const periods = [300, 3_600, 86_400, 604_800].map((s): [string, Length] => [duration(s), lengthOf(s)]);
const crons: [string, string][] = [
  [t("Hourly"), "0 * * * *"],
  [t("Nightly"), "30 2 * * *"],
  [t("Weekdays"), "30 2 * * 1-5"],
  [t("Mondays"), "0 8 * * 1"],
];

/** When a job is to ping, and how late it may be. */
export function HeartbeatFields({
  draft,
  errors,
  onChange,
}: {
  draft: HeartbeatDraft;
  errors: Errors;
  onChange: (change: Partial<HeartbeatDraft>) => void;
}) {
  return (
    <>
      <Field label={t("Name")} error={errors.name} hint={t("Of the job that pings, such as Nightly backup.")}>
        {(bound) => (
          <input
            {...bound}
            className="input"
            name="name"
            autoComplete="off"
            // biome-ignore lint/a11y/noAutofocus: the first field of a form that was just asked for
            autoFocus
            value={draft.name}
            onChange={(event) => onChange({ name: event.target.value })}
          />
        )}
      </Field>
      <Choice
        label={t("A ping is expected")}
        value={draft.by}
        options={[
          ["period", t("After a period")],
          ["cron", t("At fixed times")],
        ]}
        onChange={(by) => onChange({ by })}
      />
      {draft.by === "period" ? (
        <LengthField
          label={t("At most this long after the one before")}
          name="period"
          value={draft.period}
          error={errors.period}
          common={periods}
          onChange={(period) => onChange({ period })}
        />
      ) : (
        <>
          <Field
            label={t("Cron expression")}
            error={errors.cron}
            hint={t("Minute, hour, day of the month, month, day of the week.")}
          >
            {(bound) => (
              <div className="stack">
                <input
                  {...bound}
                  className="input mono"
                  name="cron"
                  autoComplete="off"
                  spellCheck={false}
                  value={draft.cron}
                  onChange={(event) => onChange({ cron: event.target.value })}
                />
                <Shortcuts
                  label={t("Common expressions")}
                  of={crons}
                  chosen={(cron) => cron === draft.cron}
                  onChoose={(cron) => onChange({ cron })}
                />
              </div>
            )}
          </Field>
          <ZoneField value={draft.zone} error={errors.zone} onChange={(zone) => onChange({ zone })} />
        </>
      )}
      <LengthField
        label={t("Grace")}
        name="grace"
        value={draft.grace}
        error={errors.grace}
        hint={t("How late a ping may be before the target is down.")}
        onChange={(grace) => onChange({ grace })}
      />
    </>
  );
}

/** One of a few, as segments. */
export function Choice<T extends string>({
  label,
  value,
  options,
  onChange,
}: {
  label: string;
  value: T;
  options: readonly (readonly [T, string])[];
  onChange: (value: T) => void;
}) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: styled like the other fields
    <div className="field" role="group" aria-label={label}>
      <span className="label">{label}</span>
      <div className="segments wide">
        {options.map(([option, text]) => (
          <button key={option} type="button" aria-pressed={option === value} onClick={() => onChange(option)}>
            {text}
          </button>
        ))}
      </div>
    </div>
  );
}

function LengthField(props: {
  label: string;
  name: string;
  value: Length;
  error: string | undefined;
  hint?: string;
  common?: [string, Length][];
  onChange: (value: Length) => void;
}) {
  const { value, onChange } = props;
  return (
    <Field label={props.label} error={props.error} hint={props.hint}>
      {(bound) => (
        <div className="length">
          <input
            {...bound}
            className="input"
            name={props.name}
            inputMode="decimal"
            autoComplete="off"
            value={value.n}
            onChange={(event) => onChange({ ...value, n: event.target.value })}
          />
          <select
            className="input"
            aria-label={t("{field}, unit", { field: props.label })}
            value={value.unit}
            onChange={(event) => onChange({ ...value, unit: event.target.value as Unit })}
          >
            {units.map(([unit, word]) => (
              <option key={unit} value={unit}>
                {word}
              </option>
            ))}
          </select>
          {props.common && (
            <Shortcuts
              label={t("Common periods")}
              of={props.common}
              chosen={(length) => value.n === length.n && value.unit === length.unit}
              onChoose={onChange}
            />
          )}
        </div>
      )}
    </Field>
  );
}
