import { Plus, Trash2 } from "lucide-react";
import { Rich } from "../words/Rich";
import { t } from "../words/t";
import { Checks } from "./Checks";
import { type HoursDraft, newKey, weekdays } from "./rules";

/** Stretches of days, such as quiet hours. */
export function HoursFields({
  label,
  add,
  hint,
  error,
  hours,
  usual,
  onChange,
}: {
  label: string;
  /** What adds one. */
  add: string;
  hint: string;
  error: string | undefined;
  hours: HoursDraft[];
  /** What a new one starts as. */
  usual: Omit<HoursDraft, "key">;
  onChange: (hours: HoursDraft[]) => void;
}) {
  const set = (key: number, change: Partial<HoursDraft>) =>
    onChange(hours.map((one) => (one.key === key ? { ...one, ...change } : one)));
  return (
    <fieldset className="stack">
      <legend>{label}</legend>
      <p className="hint muted">{hint}</p>
      {error && (
        <p className="banner bad" role="alert" tabIndex={-1}>
          {error}
        </p>
      )}
      {hours.map((one) => (
        <div key={one.key} className="hours-row">
          <div className="row">
            <Rich
              text="{from} to {to}"
              from={
                <input
                  className="input"
                  type="time"
                  aria-label={t("{label}: from", { label })}
                  value={one.from}
                  onChange={(event) => set(one.key, { from: event.target.value })}
                />
              }
              to={
                <input
                  className="input"
                  type="time"
                  aria-label={t("{label}: to", { label })}
                  value={one.to}
                  onChange={(event) => set(one.key, { to: event.target.value })}
                />
              }
            />
            <button
              type="button"
              className="icon-btn push"
              aria-label={t("Remove these hours")}
              onClick={() => onChange(hours.filter((other) => other !== one))}
            >
              <Trash2 size={16} aria-hidden />
            </button>
          </div>
          <Checks
            label={t("Beginning on")}
            hint={t("None chosen: every day.")}
            of={weekdays}
            chosen={one.days}
            onChange={(days) => set(one.key, { days })}
          />
        </div>
      ))}
      <div>
        <button type="button" className="btn" onClick={() => onChange([...hours, { key: newKey(), ...usual }])}>
          <Plus size={15} aria-hidden /> {add}
        </button>
      </div>
    </fieldset>
  );
}
