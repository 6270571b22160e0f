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
import { Radios } from "./Radios";
import { aRole, roles, roleWhat, roleWords } from "./roles";
import { Until } from "./Until";
import "../styles/dialog.css";
import "../styles/heartbeat.css";

const DAY_S = 86_400;
const lasts: readonly [seconds: number, word: string][] = [
  [DAY_S, "a day"],
  [7 * DAY_S, "7 days"],
  [30 * DAY_S, "30 days"],
];

/** Makes the link with which one person makes an account; it is shown once. */
export default function InviteDialog({ onClose }: { onClose: () => void }) {
  const queries = useQueryClient();
  const { form, problems, refuse } = useProblems();
  const named = Boolean(useWays()?.provider);
  const [role, setRole] = useState<Role>("editor");
  const [email, setEmail] = useState("");
  const [expires, setExpires] = useState(7 * DAY_S);
  const [made, setMade] = useState<Invitation | null>(null);
  const save = useMutation({
    mutationFn: () => accountApi.invite({ role, expires_s: expires, ...(email.trim() ? { email: email.trim() } : {}) }),
    onSuccess: (invitation) => {
      void queries.invalidateQueries({ queryKey: ["invitations"] });
      setMade(invitation);
    },
    onError: (error) => refuse(problemsOf(error, ["/email", "/role", "/expires_s"])),
  });
  const submit = () => {
    refuse({});
    save.mutate();
  };
  if (made) return <Made invitation={made} onClose={onClose} />;
  return (
    <DialogForm
      title="Invite somebody"
      form={form}
      problems={problems}
      busy={save.isPending}
      act="Make the link"
      acting="Making the link"
      onSubmit={submit}
      onClose={onClose}
    >
      <Field
        label={named ? "E-mail" : "E-mail (optional)"}
        error={problems["/email"]}
        hint={
          named
            ? "Only this address can use the link: with single sign-on it says whose the account is."
            : "Only this address can use the link then. Empty: whoever has it, once."
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
        label="Role"
        value={role}
        of={roles.map((one) => [one, roleWords[one], roleWhat[one]] as const)}
        onChange={setRole}
      />
      <Field label="The link lasts" error={problems["/expires_s"]}>
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
    </DialogForm>
  );
}

function Made({ invitation, onClose }: { invitation: Invitation; onClose: () => void }) {
  return (
    <Dialog title="Send this link" onClose={onClose}>
      <div className="dialog-body">
        <p>
          {invitation.email ? `${invitation.email} makes` : "One person makes"} an account with it, as{" "}
          {aRole(invitation.role)}. Probefleet sends nothing: pass it on yourself, in a way that only that person reads.
        </p>
        <CopyText label="link" text={invitation.link ?? ""} />
        <p className="muted">
          It is not shown again, and <Until at={invitation.expires_at} />. If it is lost, revoke it and make another.
        </p>
      </div>
      <div className="dialog-foot">
        <button type="button" className="btn primary" onClick={onClose}>
          Done
        </button>
      </div>
    </Dialog>
  );
}
