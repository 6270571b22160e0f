import { useQueryClient } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { type FormEvent, useEffect, useRef, useState } from "react";
import { ApiError } from "../api/client";
import { api } from "../api/endpoints";
import { Field } from "../ui/Field";
import { AccountPage } from "./AccountPage";
import { type AccountErrors, accountErrors } from "./errors";

export function LoginPage() {
  const { next } = useSearch({ from: "/login" });
  const navigate = useNavigate();
  const queries = useQueryClient();
  const form = useRef<HTMLFormElement>(null);
  const [errors, setErrors] = useState<AccountErrors>({});
  const [busy, setBusy] = useState(false);
  const [challenge, setChallenge] = useState<string | null>(null);
  useEffect(() => {
    document.title = "Sign in · Probefleet";
  }, []);

  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const values = new FormData(event.currentTarget);
    setBusy(true);
    try {
      const session = challenge
        ? await api.verify(challenge, String(values.get("code")).trim())
        : await api.login(String(values.get("email")).trim(), String(values.get("password")));
      if (session.second_factor) {
        setChallenge(session.second_factor.challenge);
        setErrors({});
        setBusy(false);
        return;
      }
      queries.setQueryData(["session"], session);
      await navigate({ href: localPath(next), replace: true });
    } catch (error) {
      setErrors(error instanceof ApiError ? accountErrors(error.problem) : { form: String(error) });
      if (error instanceof ApiError && error.problem.code === "bad_challenge") setChallenge(null);
      setBusy(false);
      requestAnimationFrame(() =>
        form.current?.querySelector<HTMLElement>("[aria-invalid=true], [role=alert]")?.focus(),
      );
    }
  };

  return (
    <AccountPage title="Sign in" intro="Welcome back.">
      <form ref={form} className="account-form" onSubmit={(event) => void submit(event)} noValidate>
        {errors.form && (
          <div className="banner bad" role="alert" tabIndex={-1}>
            <p>{errors.form}</p>
          </div>
        )}
        {challenge ? (
          <Field label="Code" error={errors.code} hint="Of your authenticator app, or one of your recovery codes.">
            {(bound) => <input {...bound} className="input" name="code" autoComplete="one-time-code" key="code" />}
          </Field>
        ) : (
          <>
            <Field label="E-mail" error={errors.email}>
              {(bound) => <input {...bound} className="input" name="email" type="email" autoComplete="username" />}
            </Field>
            <Field label="Password" error={errors.password}>
              {(bound) => (
                <input {...bound} className="input" name="password" type="password" autoComplete="current-password" />
              )}
            </Field>
          </>
        )}
        <button type="submit" className="btn primary" disabled={busy}>
          {busy ? "Signing in" : "Sign in"}
        </button>
      </form>
    </AccountPage>
  );
}

/** Only paths of this page: never another site's address. */
function localPath(next: string | undefined): string {
  return next?.startsWith("/") && !next.startsWith("//") && !next.includes("\\") ? next : "/";
}
