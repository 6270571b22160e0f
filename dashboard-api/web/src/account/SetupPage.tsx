import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, Navigate, useSearch } from "@tanstack/react-router";
import { type FormEvent, useEffect, useRef, useState } from "react";
import { ApiError } from "../api/client";
import { api } from "../api/endpoints";
import { sessionQuery } from "../app/Gate";
import { titleOf } from "../app/titles";
import { Field } from "../ui/Field";
import { firstProblem, focusAfter } from "../ui/focusAfter";
import { t } from "../words/t";
import { AccountPage } from "./AccountPage";
import { type AccountErrors, accountErrors } from "./errors";
import { FirstTargets } from "./FirstTargets";

/** The first run: make the owner with the token of the printed link, then watch the first addresses. */
export function SetupPage() {
  const [owner, setOwner] = useState(false);
  useEffect(() => {
    document.title = titleOf("/setup");
  }, []);
  // Who was sent here is known not to be signed in: that is not asked again.
  const session = useQuery({ ...sessionQuery, retryOnMount: false });
  if (owner) return <FirstTargets />;
  if (session.isPending) return null;
  if (session.data) return <GoOn mayAdd={session.data.role !== "viewer"} />;
  return <OwnerForm onDone={() => setOwner(true)} />;
}

/** Who is signed in already, such as after a reload, is in step 2; and done with it once anything is watched. */
function GoOn({ mayAdd }: { mayAdd: boolean }) {
  const watched = useQuery({
    queryKey: ["setup", "watched"],
    queryFn: async () => (await api.overview(0)).total > 0,
    enabled: mayAdd,
    staleTime: Number.POSITIVE_INFINITY, // what is added here does not lead away from here
    gcTime: 0,
  });
  if (!mayAdd || watched.data) return <Navigate to="/" search={{}} replace />;
  if (watched.isPending) return null;
  return <FirstTargets />;
}

function OwnerForm({ onDone }: { onDone: () => void }) {
  const search = useSearch({ from: "/setup" });
  const linked = search.token ?? new URLSearchParams(location.hash.slice(1)).get("token") ?? "";
  const queries = useQueryClient();
  const form = useRef<HTMLFormElement>(null);
  const [errors, setErrors] = useState<AccountErrors & { done?: boolean }>({});
  const [busy, setBusy] = useState(false);

  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const values = new FormData(event.currentTarget);
    const text = (name: string) => String(values.get(name) ?? "").trim();
    const email = text("email");
    setBusy(true);
    try {
      const session = await api.setup({
        token: linked || text("token"),
        email,
        name: email.split("@")[0] || email,
        password: String(values.get("password")),
      });
      queries.setQueryData(["session"], session);
      onDone();
    } catch (error) {
      const problem = error instanceof ApiError ? error.problem : null;
      const found = problem ? accountErrors(problem) : { form: String(error) };
      if (linked && found.token) found.form = found.token;
      setBusy(false);
      focusAfter(
        () => setErrors({ ...found, done: problem?.status === 409 }),
        () => firstProblem(form.current),
      );
    }
  };

  return (
    <AccountPage title={t("Create the owner")} intro={t("Step 1 of 2. This account may do everything.")}>
      <form ref={form} className="account-form" onSubmit={(event) => void submit(event)} noValidate>
        {errors.form && (
          <div className="banner bad" role="alert" tabIndex={-1}>
            <p>
              {errors.form}{" "}
              {errors.done && (
                <Link className="link" to="/login">
                  {t("Sign in")}
                </Link>
              )}
            </p>
          </div>
        )}
        {!linked && (
          <Field
            label={t("Set-up token")}
            error={errors.token}
            hint={t("It is in the link that was printed when Probefleet started.")}
          >
            {(bound) => <input {...bound} className="input" name="token" autoComplete="off" />}
          </Field>
        )}
        <Field label={t("E-mail")} error={errors.email ?? errors.name}>
          {(bound) => <input {...bound} className="input" name="email" type="email" autoComplete="username" />}
        </Field>
        <Field label={t("Password")} error={errors.password} hint={t("At least 8 characters.")}>
          {(bound) => (
            <input {...bound} className="input" name="password" type="password" autoComplete="new-password" />
          )}
        </Field>
        <button type="submit" className="btn primary" disabled={busy}>
          {busy ? t("Creating") : t("Continue")}
        </button>
      </form>
    </AccountPage>
  );
}
