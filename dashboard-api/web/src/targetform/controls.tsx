import { Field } from "../ui/Field";
import { t } from "../words/t";

export const keeps = () => t("Stored. Empty: it stays.");
export const onceSaved = () => t("Once saved it is not shown again.");

/** A text in its own direction, whatever that of the sentence around it is. */
export const ltr = (text: string): string => `\u2066${text}\u2069`;

export function Select<T extends string>(props: {
  label: string;
  hint?: string;
  error: string | undefined;
  value: T;
  options: readonly (readonly [T, string])[];
  onChange: (value: T) => void;
}) {
  return (
    <Field label={props.label} error={props.error} hint={props.hint}>
      {(bound) => (
        <select
          {...bound}
          className="input"
          value={props.value}
          onChange={(event) => props.onChange(event.target.value as T)}
        >
          {props.options.map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

/** One line that is code: a name, an address. */
export function Code(props: {
  label: string;
  hint?: string;
  error: string | undefined;
  placeholder?: string;
  value: string;
  onChange: (value: string) => void;
}) {
  return (
    <Field label={props.label} error={props.error} hint={props.hint}>
      {(bound) => (
        <input
          {...bound}
          className="input mono"
          dir="auto"
          autoComplete="off"
          autoCapitalize="off"
          spellCheck={false}
          placeholder={props.placeholder}
          value={props.value}
          onChange={(event) => props.onChange(event.target.value)}
        />
      )}
    </Field>
  );
}

/** Some lines that are sent as they are. */
export function Lines(props: {
  label: string;
  hint?: string | undefined;
  error: string | undefined;
  placeholder?: string | undefined;
  value: string;
  onChange: (value: string) => void;
}) {
  return (
    <Field label={props.label} error={props.error} hint={props.hint}>
      {(bound) => (
        <textarea
          {...bound}
          className="input mono"
          dir="auto"
          rows={3}
          spellCheck={false}
          placeholder={props.placeholder}
          value={props.value}
          onChange={(event) => props.onChange(event.target.value)}
        />
      )}
    </Field>
  );
}

export function Secret(props: {
  label: string;
  hint?: string;
  error: string | undefined;
  value: string;
  stored: boolean;
  onChange: (value: string) => void;
}) {
  return (
    <Field label={props.label} error={props.error} hint={props.hint ?? onceSaved()}>
      {(bound) => (
        <input
          {...bound}
          className="input"
          type="password"
          autoComplete="new-password"
          placeholder={props.stored ? keeps() : undefined}
          value={props.value}
          onChange={(event) => props.onChange(event.target.value)}
        />
      )}
    </Field>
  );
}

export function Tick({ label, on, onChange }: { label: string; on: boolean; onChange: (on: boolean) => void }) {
  return (
    <label className="chip">
      <input type="checkbox" checked={on} onChange={(event) => onChange(event.target.checked)} />
      {label}
    </label>
  );
}
