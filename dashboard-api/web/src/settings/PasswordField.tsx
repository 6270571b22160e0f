import { useState } from "react";
import type { CurrentPassword } from "../api/accounts";
import { useSelf } from "../app/useSelf";
import { Field } from "../ui/Field";

/** The password said again: undefined of who has none, and so is not asked for it. */
export function useCurrentPassword(): [CurrentPassword, (value: string) => void] {
  const passwordless = useSelf()?.passwordless ?? false;
  const [value, setValue] = useState("");
  return [passwordless ? undefined : value, setValue];
}

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
  /** Undefined: there is none to ask for. */
  value: CurrentPassword;
  error: string | undefined;
  onChange: (value: string) => void;
}) {
  if (value === undefined) return null;
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
