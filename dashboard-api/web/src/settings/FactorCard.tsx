import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { ShieldAlert, ShieldCheck } from "lucide-react";
import { lazy, Suspense, useState } from "react";
import { accountApi } from "../api/accounts";
import { useToast } from "../app/toasts";
import { DialogForm } from "../ui/DialogForm";
import { ErrorNote } from "../ui/ErrorNote";
import { problemsOf } from "../ui/problems";
import { useProblems } from "../ui/useProblems";
import { t } from "../words/t";
import { PasswordField, useCurrentPassword } from "./PasswordField";

const FactorDialog = lazy(() => import("./FactorDialog"));
const FEW = 3;

/** Codes of an app, beside the password. */
export function FactorCard() {
  const factor = useQuery({ queryKey: ["second-factor"], queryFn: accountApi.secondFactor });
  const [open, setOpen] = useState<"enrol" | "remove" | null>(null);
  const state = factor.data;
  const close = () => setOpen(null);
  return (
    <section className="card" aria-labelledby="factor">
      <div className="card-head">
        <h2 id="factor">{t("Second factor")}</h2>
      </div>
      {factor.error && !state && <ErrorNote error={factor.error} onRetry={() => void factor.refetch()} />}
      {!state && !factor.error && <div className="skeleton factor-skeleton" />}
      {state && (
        <div className="factor">
          {state.enabled ? (
            <ShieldCheck size={26} aria-hidden className="s-up" />
          ) : (
            <ShieldAlert size={26} aria-hidden className="muted" />
          )}
          <div>
            <b>{state.enabled ? t("On: an authenticator app") : t("Off: the password is enough to sign in")}</b>
            <p className="muted">
              {state.enabled
                ? t(
                    "Signing in asks for a code of the app. {n, plural, one {# recovery code} other {# recovery codes}} left for when you do not have it.",
                    { n: state.recovery_codes_left },
                  )
                : t("With an authenticator app on your phone, who learns your password still cannot come in.")}
            </p>
            {state.enabled && state.recovery_codes_left <= FEW && (
              <p className="muted">{t("For new recovery codes, turn the second factor off and set it up again.")}</p>
            )}
          </div>
          <button
            type="button"
            className={state.enabled ? "btn danger" : "btn primary"}
            onClick={() => setOpen(state.enabled ? "remove" : "enrol")}
          >
            {state.enabled ? t("Turn off") : t("Set up")}
          </button>
        </div>
      )}
      {open === "enrol" && (
        <Suspense fallback={null}>
          <FactorDialog onClose={close} />
        </Suspense>
      )}
      {open === "remove" && <RemoveDialog onClose={close} />}
    </section>
  );
}

function RemoveDialog({ onClose }: { onClose: () => void }) {
  const queries = useQueryClient();
  const toast = useToast();
  const { form, problems, refuse } = useProblems();
  const [password, setPassword] = useCurrentPassword();
  const remove = useMutation({
    mutationFn: () => accountApi.removeFactor(password),
    onSuccess: () => {
      void queries.invalidateQueries({ queryKey: ["second-factor"] });
      void queries.invalidateQueries({ queryKey: ["members"] });
      toast({ text: t("The second factor is off. You can remove it from the app, too.") });
      onClose();
    },
    onError: (error) => refuse(problemsOf(error, ["/current_password"])),
  });
  return (
    <DialogForm
      title={t("Turn the second factor off?")}
      form={form}
      problems={problems}
      busy={remove.isPending}
      act={t("Turn it off")}
      keep={t("Keep it on")}
      onSubmit={() => remove.mutate()}
      onClose={onClose}
    >
      <p>{t("The password alone is enough to sign in then, and your recovery codes are worth nothing any more.")}</p>
      <PasswordField
        label={t("Your password")}
        value={password}
        error={problems["/current_password"]}
        onChange={setPassword}
      />
    </DialogForm>
  );
}
