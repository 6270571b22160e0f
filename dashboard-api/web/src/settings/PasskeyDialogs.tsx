import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { makePasskey } from "../account/passkeys";
import { cancelled, refusal } from "../account/problems";
import { accountApi, type Passkey } from "../api/accounts";
import { useToast } from "../app/toasts";
import { DialogForm } from "../ui/DialogForm";
import { Field } from "../ui/Field";
import { type Problems, problemsOf } from "../ui/problems";
import { useProblems } from "../ui/useProblems";
import { t } from "../words/t";
import { device } from "./device";
import { PasswordField, useCurrentPassword } from "./PasswordField";

/** The password again, the device, a name. */
export function RegisterDialog({ onClose }: { onClose: () => void }) {
  const [password, setPassword] = useCurrentPassword();
  const [name, setName] = useState(() => device(navigator.userAgent));
  const register = async () => {
    const { options, challenge } = await accountApi.beginPasskey(password);
    const credential = await makePasskey(options.publicKey);
    await accountApi.addPasskey({ challenge, name: name.trim(), credential });
    return t("{name} is registered. You can sign in with it.", { name: name.trim() });
  };
  return (
    <PasskeyForm title={t("Register a passkey")} act={t("Register")} name={name} onAct={register} onClose={onClose}>
      {(problems) => (
        <>
          <p>{t("The browser asks where to keep it: on this device, on a phone or on a key that you plug in.")}</p>
          <NameField value={name} error={problems["/name"]} onChange={setName} />
          <PasswordField
            label={t("Your password")}
            value={password}
            error={problems["/current_password"]}
            onChange={setPassword}
          />
        </>
      )}
    </PasskeyForm>
  );
}

export function RenameDialog({ of: passkey, onClose }: { of: Passkey; onClose: () => void }) {
  const [name, setName] = useState(passkey.name);
  const rename = async () => {
    await accountApi.renamePasskey(passkey.id, name.trim());
    return t("Saved.");
  };
  return (
    <PasskeyForm
      title={t("Rename {name}", { name: passkey.name })}
      act={t("Save")}
      name={name}
      onAct={rename}
      onClose={onClose}
    >
      {(problems) => <NameField value={name} error={problems["/name"]} onChange={setName} />}
    </PasskeyForm>
  );
}

export function RemoveDialog({ of: passkey, onClose }: { of: Passkey; onClose: () => void }) {
  const [password, setPassword] = useCurrentPassword();
  const remove = async () => {
    await accountApi.removePasskey(passkey.id, password);
    return t("{name} is removed. You can remove it from the device, too.", { name: passkey.name });
  };
  return (
    <PasskeyForm title={t("Remove {name}?", { name: passkey.name })} act={t("Remove")} onAct={remove} onClose={onClose}>
      {(problems) => (
        <>
          <p>{t("It signs you in no more. Where you are signed in you stay so.")}</p>
          <PasswordField
            label={t("Your password")}
            value={password}
            error={problems["/current_password"]}
            onChange={setPassword}
          />
        </>
      )}
    </PasskeyForm>
  );
}

function NameField({
  value,
  error,
  onChange,
}: {
  value: string;
  error: string | undefined;
  onChange: (value: string) => void;
}) {
  return (
    <Field label={t("Name")} error={error} hint={t("So that you know it again, such as the device that keeps it.")}>
      {(bound) => (
        <input
          {...bound}
          className="input"
          autoComplete="off"
          maxLength={120}
          value={value}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
  );
}

/** A dialog that does something with a passkey, and says so in the end. */
function PasskeyForm({
  title,
  act,
  name,
  onAct,
  onClose,
  children,
}: {
  title: string;
  act: string;
  /** What is to be its name, if anything. */
  name?: string;
  onAct: () => Promise<string>;
  onClose: () => void;
  children: (problems: Problems) => ReactNode;
}) {
  const queries = useQueryClient();
  const toast = useToast();
  const { form, problems, refuse } = useProblems();
  const save = useMutation({
    mutationFn: onAct,
    onSuccess: (done) => {
      void queries.invalidateQueries({ queryKey: ["passkeys"] });
      toast({ text: done });
      onClose();
    },
    onError: (error) => {
      const said = refusal(error);
      refuse(cancelled(error) ? {} : said ? { "": said } : problemsOf(error, ["/current_password", "/name"]));
    },
  });
  const submit = () => {
    // Asked before the device makes one that nobody could tell from another.
    if (name?.trim() === "") return refuse({ "/name": t("Give it a name, such as the device that keeps it.") });
    save.mutate();
  };
  return (
    <DialogForm
      title={title}
      form={form}
      problems={problems}
      busy={save.isPending}
      act={act}
      onSubmit={submit}
      onClose={onClose}
    >
      {children(problems)}
    </DialogForm>
  );
}
