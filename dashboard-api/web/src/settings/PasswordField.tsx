import { useState } from "react";
import { byProvider } from "../account/OtherWays";
import { useWays } from "../account/passkeys";
import type { CurrentPassword } from "../api/accounts";
import { useToast } from "../app/toasts";
import { useSelf } from "../app/useSelf";
import { Field } from "../ui/Field";
import { briefly } from "../ui/problems";
import { t } from "../words/t";

/** The password said again: undefined of who has none, and so is not asked for it. */
export function useCurrentPassword(): [CurrentPassword, (value: string) => void] {
  const passwordless = useSelf()?.passwordless ?? false;
  const [value, setValue] = useState("");
  return [passwordless ? undefined : value, setValue];
}

/** What there is in its place: to sign in with the provider again, which comes back here. */
function SayAgain() {
  const provider = useWays()?.provider;
  const toast = useToast();
  if (!provider) return null;
  const again = async () => {
    try {
      await byProvider(location.pathname, true);
    } catch (error) {
      toast({ bad: true, text: briefly(error) });
    }
  };
  return (
    <p className="muted">
      {t("This needs a sign-in of the last ten minutes, since you have no password.")}{" "}
      <button type="button" className="link plain" onClick={() => void again()}>
        {t("Sign in again with {provider}", { provider: provider.label })}
      </button>
    </p>
  );
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
  if (value === undefined) return <SayAgain />;
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
