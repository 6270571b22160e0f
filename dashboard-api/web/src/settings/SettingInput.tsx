import { Field } from "../ui/Field";
import { Rich } from "../words/Rich";
import { t } from "../words/t";
import type { SettingField } from "./kinds";

/** One setting of a channel. A stored secret is never shown: an empty field keeps it. */
export function SettingInput({
  field,
  value,
  kept,
  error,
  onChange,
  onClear,
}: {
  field: SettingField;
  value: string;
  kept: boolean;
  error: string | undefined;
  onChange: (value: string) => void;
  onClear: () => void;
}) {
  const label = field.needed ? field.label : t("{label} (optional)", { label: field.label });
  const secretHint = kept ? t("Stored, and not shown. Leave it empty to keep it.") : undefined;
  return (
    <Field label={field.type === "choice" ? field.label : label} error={error} hint={secretHint ?? field.hint}>
      {(bound) => {
        if (field.type === "choice") {
          return (
            <select {...bound} className="input" value={value} onChange={(event) => onChange(event.target.value)}>
              {field.options?.map(([option, text]) => (
                <option key={option} value={option}>
                  {text}
                </option>
              ))}
            </select>
          );
        }
        if (field.type === "list") {
          return (
            <textarea
              {...bound}
              className="input"
              rows={3}
              spellCheck={false}
              value={value}
              onChange={(event) => onChange(event.target.value)}
            />
          );
        }
        const secret = field.type === "secret";
        return (
          <div className="row">
            <input
              {...bound}
              className="input"
              type={secret ? "password" : "text"}
              inputMode={field.type === "number" ? "numeric" : undefined}
              autoComplete={secret ? "new-password" : "off"}
              spellCheck={false}
              placeholder={kept ? "••••••••" : field.placeholder}
              value={value}
              onChange={(event) => onChange(event.target.value)}
            />
            {kept && !field.needed && (
              <button type="button" className="btn" onClick={onClear}>
                <Rich
                  text="Remove<sr> {label}</sr>"
                  label={field.label}
                  sr={(inner) => <span className="sr">{inner}</span>}
                />
              </button>
            )}
          </div>
        );
      }}
    </Field>
  );
}
