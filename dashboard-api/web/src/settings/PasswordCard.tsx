import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { accountApi } from "../api/accounts";
import type { Session } from "../api/types";
import { useToast } from "../app/toasts";
import { useSelf } from "../app/useSelf";
import { FormProblem } from "../ui/FormProblem";
import { problemsOf } from "../ui/problems";
import { useProblems } from "../ui/useProblems";
import { t } from "../words/t";
import { endedWords } from "./ended";
import { PasswordField, useCurrentPassword } from "./PasswordField";

/** Another password, or a first one; every other session ends with the old one. */
export function PasswordCard() {
  const queries = useQueryClient();
  const toast = useToast();
  const self = useSelf();
  const { form, problems, refuse } = useProblems();
  const [current, setCurrent] = useCurrentPassword();
  const [next, setNext] = useState("");
  const first = current === undefined;
  const save = useMutation({
    mutationFn: () => accountApi.changePassword(current, next),
    onSuccess: (ended) => {
      for (const one of ["sessions", "keys", "invitations"]) void queries.invalidateQueries({ queryKey: [one] });
      queries.setQueryData<Session>(["session"], (now) =>
        now?.user ? { ...now, user: { ...now.user, passwordless: false } } : now,
      );
      setCurrent("");
      setNext("");
      refuse({});
      toast({
        text: [
          first
            ? t("The password is set. You are signed out everywhere else.")
            : t("The password is changed. You are signed out everywhere else."),
          ...endedWords(ended),
        ].join(" "),
      });
    },
    onError: (error) => refuse(problemsOf(error, ["/current_password", "/password"])),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!save.isPending) save.mutate();
  };
  return (
    <section className="card" aria-labelledby="password">
      <div className="card-head">
        <h2 id="password">{t("Password")}</h2>
      </div>
      <form ref={form} className="pad card-form" onSubmit={submit} noValidate>
        <FormProblem problems={problems} />
        {/* Tells password managers whose password it is. */}
        <input type="hidden" autoComplete="username" value={self?.email ?? ""} readOnly />
        <PasswordField
          label={t("Current password")}
          value={current}
          error={problems["/current_password"]}
          onChange={setCurrent}
        />
        <PasswordField
          label={t("New password")}
          hint={t("At least 8 characters. You are signed out everywhere else.")}
          fresh
          value={next}
          error={problems["/password"]}
          onChange={setNext}
        />
        <p className="muted">
          {t("API keys of yours end, with those they made: programs that use them are refused.")}{" "}
          {t("Invitations that you have made and nobody has used are withdrawn.")}
        </p>
        <div>
          <button type="submit" className="btn" disabled={save.isPending}>
            {first ? t("Set a password") : save.isPending ? t("Changing") : t("Change password")}
          </button>
        </div>
      </form>
    </section>
  );
}
