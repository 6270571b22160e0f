import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { accountApi } from "../api/accounts";
import { ApiError } from "../api/client";
import { useToast } from "../app/toasts";
import { useSession } from "../app/useSelf";
import { Field } from "../ui/Field";
import { FormProblem } from "../ui/FormProblem";
import { problemsOf } from "../ui/problems";
import { useProblems } from "../ui/useProblems";
import { t } from "../words/t";
import { PasswordField, useCurrentPassword } from "./PasswordField";
import { roleWhat, roleWords } from "./roles";

/** Name and address; another address to sign in with needs the password. */
export function ProfileCard() {
  const session = useSession();
  const queries = useQueryClient();
  const toast = useToast();
  const { form, problems, refuse } = useProblems();
  const [read, setRead] = useState(session?.user); // what is changed here: it may be changed elsewhere meanwhile
  const before = { name: read?.name ?? "", email: read?.email ?? "" };
  const [name, setName] = useState(before.name);
  const [email, setEmail] = useState(before.email);
  const [password, setPassword] = useCurrentPassword();
  const moved = email.trim().toLowerCase() !== before.email;
  const changed = moved || name.trim() !== before.name;
  const save = useMutation({
    mutationFn: () =>
      accountApi.saveProfile(
        {
          ...(name.trim() === before.name ? {} : { name: name.trim() }),
          ...(moved ? { email: email.trim(), current_password: password } : {}),
        },
        read?.version,
      ),
    onSuccess: (saved) => {
      setRead(saved.user);
      queries.setQueryData(["session"], saved);
      void queries.invalidateQueries({ queryKey: ["members"] });
      setPassword("");
      refuse({});
      toast({
        text: moved ? t("Saved. You sign in as {email} from now on.", { email: saved.user?.email }) : t("Saved."),
      });
    },
    onError: (error) =>
      refuse(
        error instanceof ApiError && error.problem.status === 412
          ? { "": t("Your account was changed meanwhile. Load the page again to see how it is now.") }
          : problemsOf(error, ["/name", "/email", "/current_password"]),
      ),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (changed && !save.isPending) save.mutate();
  };
  return (
    <section className="card" aria-labelledby="profile">
      <div className="card-head">
        <h2 id="profile">{t("Profile")}</h2>
        {session && (
          <span className="muted" title={roleWhat[session.role]}>
            {roleWords[session.role]}
          </span>
        )}
      </div>
      <form ref={form} className="pad card-form" onSubmit={submit} noValidate>
        <FormProblem problems={problems} />
        <Field label={t("Name")} error={problems["/name"]}>
          {(bound) => (
            <input
              {...bound}
              className="input"
              autoComplete="name"
              value={name}
              onChange={(event) => setName(event.target.value)}
            />
          )}
        </Field>
        <Field label={t("E-mail")} error={problems["/email"]}>
          {(bound) => (
            <input
              {...bound}
              className="input"
              type="email"
              autoComplete="username"
              value={email}
              onChange={(event) => setEmail(event.target.value)}
            />
          )}
        </Field>
        {moved && (
          <PasswordField
            label={t("Your password")}
            hint={t("You sign in with this address: say the password again.")}
            value={password}
            error={problems["/current_password"]}
            onChange={setPassword}
          />
        )}
        <div>
          <button type="submit" className="btn" disabled={!changed || save.isPending}>
            {save.isPending ? t("Saving") : t("Save")}
          </button>
        </div>
      </form>
    </section>
  );
}
