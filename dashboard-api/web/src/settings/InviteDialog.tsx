import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useWays } from "../account/passkeys";
import { accountApi, type Invitation, type Role } from "../api/accounts";
import { CopyText } from "../ui/CopyText";
import { Dialog } from "../ui/Dialog";
import { DialogForm } from "../ui/DialogForm";
import { Field } from "../ui/Field";
import { problemsOf } from "../ui/problems";
import { useProblems } from "../ui/useProblems";
import { PasswordField, useCurrentPassword } from "./PasswordField";
import { Radios } from "./Radios";
import { roles, roleWhat, roleWords } from "./roles";
import { Left } from "./Until";
import "../styles/dialog.css";
import "../styles/heartbeat.css";
import { Rich } from "../words/Rich";
import { t } from "../words/t";

const DAY_S = 86_400;
const lasts: readonly [seconds: number, word: string][] = [
  [DAY_S, t("a day")],
  [7 * DAY_S, t("7 days")],
  [30 * DAY_S, t("30 days")],
];

/** Makes the link with which one person makes an account; it is shown once. */
export default function InviteDialog({ onClose }: { onClose: () => void }) {
  const queries = useQueryClient();
  const { form, problems, refuse } = useProblems();
  const named = Boolean(useWays()?.provider);
  const [role, setRole] = useState<Role>("editor");
  const [email, setEmail] = useState("");
  const [expires, setExpires] = useState(7 * DAY_S);
  const [password, setPassword] = useCurrentPassword();
  const [made, setMade] = useState<Invitation | null>(null);
  const save = useMutation({
    mutationFn: () =>
      accountApi.invite({
        role,
        expires_s: expires,
        ...(email.trim() ? { email: email.trim() } : {}),
        current_password: password,
      }),
    onSuccess: (invitation) => {
      void queries.invalidateQueries({ queryKey: ["invitations"] });
      setMade(invitation);
    },
    onError: (error) => refuse(problemsOf(error, ["/email", "/role", "/expires_s", "/current_password"])),
  });
  const submit = () => {
    refuse({});
    save.mutate();
  };
  if (made) return <Made invitation={made} onClose={onClose} />;
  return (
    <DialogForm
      title={t("Invite somebody")}
      form={form}
      problems={problems}
      busy={save.isPending}
      act={t("Make the link")}
      acting={t("Making the link")}
      onSubmit={submit}
      onClose={onClose}
    >
      <Field
        label={named ? t("E-mail") : t("E-mail (optional)")}
        error={problems["/email"]}
        hint={
          named
            ? t("Only this address can use the link: with single sign-on it says whose the account is.")
            : t("Only this address can use the link then. Empty: whoever has it, once.")
        }
      >
        {(bound) => (
          <input
            {...bound}
            className="input"
            type="email"
            autoComplete="off"
            spellCheck={false}
            value={email}
            onChange={(event) => setEmail(event.target.value)}
          />
        )}
      </Field>
      <Radios
        label={t("Role")}
        value={role}
        of={roles.map((one) => [one, roleWords[one], roleWhat[one]] as const)}
        onChange={setRole}
      />
      <Field label={t("The link lasts")} error={problems["/expires_s"]}>
        {(bound) => (
          <select
            {...bound}
            className="input"
            value={expires}
            onChange={(event) => setExpires(Number(event.target.value))}
          >
            {lasts.map(([seconds, word]) => (
              <option key={seconds} value={seconds}>
                {word}
              </option>
            ))}
          </select>
        )}
      </Field>
      <PasswordField
        label={t("Your password")}
        value={password}
        error={problems["/current_password"]}
        onChange={setPassword}
      />
    </DialogForm>
  );
}

const forWhom = ({ email, role }: Invitation): string =>
  email
    ? t(
        "{role, select, owner {{email} makes an account with it, as an owner.} editor {{email} makes an account with it, as an editor.} other {{email} makes an account with it, as a viewer.}}",
        { role, email },
      )
    : t(
        "{role, select, owner {One person makes an account with it, as an owner.} editor {One person makes an account with it, as an editor.} other {One person makes an account with it, as a viewer.}}",
        { role },
      );

function Made({ invitation, onClose }: { invitation: Invitation; onClose: () => void }) {
  return (
    <Dialog title={t("Send this link")} onClose={onClose}>
      <div className="dialog-body">
        <p>
          {forWhom(invitation)}{" "}
          {t("Probefleet sends nothing: pass it on yourself, in a way that only that person reads.")}
        </p>
        <CopyText label={t("link")} text={invitation.link ?? ""} />
        <p className="muted">
          <Rich
            text="It is not shown again, and expires in {time}. If it is lost, revoke it and make another."
            time={<Left at={invitation.expires_at} />}
          />
        </p>
      </div>
      <div className="dialog-foot">
        <button type="button" className="btn primary" onClick={onClose}>
          {t("Done")}
        </button>
      </div>
    </Dialog>
  );
}
