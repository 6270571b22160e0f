import { Field } from "../ui/Field";

/** A password, as it is now or to be made. */
export function PasswordField({
  label,
  hint,
  fresh = false,
  value,
  error,
  onChange,
}: {
  label: string;
  hint?: string;
  /** It is a new one. */
  fresh?: boolean;
  value: string;
  error: string | undefined;
  onChange: (value: string) => void;
}) {
  return (
    <Field label={label} error={error} hint={hint}>
      {(bound) => (
        <input
          {...bound}
          className="input"
          type="password"
          autoComplete={fresh ? "new-password" : "current-password"}
          value={value}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
  );
}
