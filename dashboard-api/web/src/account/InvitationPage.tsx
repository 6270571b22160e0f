import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, useEffect, useRef, useState } from "react";
import { ApiError } from "../api/client";
import { api } from "../api/endpoints";
import { titleOf } from "../app/titles";
import { Field } from "../ui/Field";
import { firstProblem, focusAfter } from "../ui/focusAfter";
import { t } from "../words/t";
import { AccountPage } from "./AccountPage";
import { type AccountErrors, accountErrors } from "./errors";

/** Somebody who was invited makes an account of their own, with the link of the invitation. */
export function InvitationPage() {
  const [token] = useState(() => new URLSearchParams(location.hash.slice(1)).get("token") ?? "");
  const navigate = useNavigate();
  const queries = useQueryClient();
  const form = useRef<HTMLFormElement>(null);
  const [errors, setErrors] = useState<AccountErrors>({});
  const [busy, setBusy] = useState(false);
  useEffect(() => {
    document.title = titleOf("/invitation");
  }, []);

  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const values = new FormData(event.currentTarget);
    const text = (name: string) => String(values.get(name) ?? "").trim();
    const email = text("email");
    setBusy(true);
    try {
      const session = await api.acceptInvitation({
        token,
        name: text("name"),
        password: String(values.get("password")),
        ...(email ? { email } : {}),
      });
      queries.setQueryData(["session"], session);
      await navigate({ to: "/", replace: true });
    } catch (error) {
      const found: AccountErrors = error instanceof ApiError ? accountErrors(error.problem) : { form: String(error) };
      setBusy(false);
      focusAfter(
        () => setErrors(found.token ? { ...found, form: found.token } : found),
        () => firstProblem(form.current),
      );
    }
  };

  return (
    <AccountPage title={t("Join")} intro={t("You were invited: make an account of your own.")}>
      <form ref={form} className="account-form" onSubmit={(event) => void submit(event)} noValidate>
        {(errors.form || !token) && (
          <div className="banner bad" role="alert" tabIndex={-1}>
            <p>{errors.form ?? t("This link is not whole. Open it once more as it was sent to you.")}</p>
          </div>
        )}
        <Field label={t("Name")} error={errors.name}>
          {(bound) => <input {...bound} className="input" name="name" autoComplete="name" />}
        </Field>
        <Field
          label={t("E-mail")}
          error={errors.email}
          hint={t("Leave it empty if the invitation is for your address.")}
        >
          {(bound) => <input {...bound} className="input" name="email" type="email" autoComplete="username" />}
        </Field>
        <Field label={t("Password")} error={errors.password} hint={t("At least 8 characters.")}>
          {(bound) => (
            <input {...bound} className="input" name="password" type="password" autoComplete="new-password" />
          )}
        </Field>
        <button type="submit" className="btn primary" disabled={busy}>
          {busy ? t("Joining") : t("Join")}
        </button>
      </form>
    </AccountPage>
  );
}
