import { useQueryClient } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { type FormEvent, useEffect, useRef, useState } from "react";
import { ApiError } from "../api/client";
import { api } from "../api/endpoints";
import type { Session } from "../api/types";
import { titleOf } from "../app/titles";
import { Field } from "../ui/Field";
import { firstProblem, focusAfter } from "../ui/focusAfter";
import { t } from "../words/t";
import { AccountPage } from "./AccountPage";
import type { AccountErrors } from "./errors";
import { localPath, takeNext } from "./next";
import { OtherWays } from "./OtherWays";
import { signInErrors, wordProblem } from "./problems";

export function LoginPage() {
  const { next: asked, problem } = useSearch({ from: "/login" });
  const [next] = useState(() => {
    const kept = takeNext(); // in any case: it was for one way back
    return asked ?? kept;
  });
  const navigate = useNavigate();
  const queries = useQueryClient();
  const form = useRef<HTMLFormElement>(null);
  const [errors, setErrors] = useState<AccountErrors>(problem ? { form: wordProblem(problem) } : {});
  const [busy, setBusy] = useState(false);
  const [challenge, setChallenge] = useState(() => new URLSearchParams(location.hash.slice(1)).get("challenge"));
  useEffect(() => {
    document.title = titleOf("/login");
    firstProblem(form.current)?.focus(); // what the way back from the provider brought
  }, []);

  const attempt = async (way: () => Promise<Session | undefined>) => {
    setBusy(true);
    try {
      const session = await way();
      if (!session) return; // the browser goes to the provider
      if (session.second_factor) {
        setChallenge(session.second_factor.challenge);
        setErrors({});
        return;
      }
      queries.setQueryData(["session"], session);
      await navigate({ href: localPath(next), replace: true });
    } catch (error) {
      focusAfter(
        () => {
          setErrors(signInErrors(error));
          if (error instanceof ApiError && error.problem.code === "bad_challenge") setChallenge(null);
        },
        () => firstProblem(form.current),
      );
    } finally {
      setBusy(false);
    }
  };
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const values = new FormData(event.currentTarget);
    const text = (name: string) => String(values.get(name)).trim();
    void attempt(() =>
      challenge ? api.verify(challenge, text("code")) : api.login(text("email"), String(values.get("password"))),
    );
  };

  return (
    <AccountPage title={t("Sign in")} intro={t("Welcome back.")}>
      <form ref={form} className="account-form" onSubmit={submit} noValidate>
        {errors.form && (
          <div className="banner bad" role="alert" tabIndex={-1}>
            <p>{errors.form}</p>
          </div>
        )}
        {challenge ? (
          <Field
            label={t("Code")}
            error={errors.code}
            hint={t("Of your authenticator app, or one of your recovery codes.")}
          >
            {(bound) => <input {...bound} className="input" name="code" autoComplete="one-time-code" key="code" />}
          </Field>
        ) : (
          <>
            <Field label={t("E-mail")} error={errors.email}>
              {(bound) => <input {...bound} className="input" name="email" type="email" autoComplete="username" />}
            </Field>
            <Field label={t("Password")} error={errors.password}>
              {(bound) => (
                <input {...bound} className="input" name="password" type="password" autoComplete="current-password" />
              )}
            </Field>
          </>
        )}
        <button type="submit" className="btn primary" disabled={busy}>
          {busy ? t("Signing in") : t("Sign in")}
        </button>
      </form>
      {!challenge && <OtherWays next={next} busy={busy} onTry={(way) => void attempt(way)} />}
    </AccountPage>
  );
}
