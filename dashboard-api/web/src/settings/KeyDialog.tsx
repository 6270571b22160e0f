import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { type ApiKey, accountApi, type KeyInput, type Role, type Scope, scopes } from "../api/accounts";
import { useSession } from "../app/useSelf";
import { KeptFirst } from "../ui/AskFirst";
import { CopyText } from "../ui/CopyText";
import { Dialog } from "../ui/Dialog";
import { DialogForm } from "../ui/DialogForm";
import { Field } from "../ui/Field";
import { type Problems, problemsOf } from "../ui/problems";
import { useProblems } from "../ui/useProblems";
import { PasswordField, useCurrentPassword } from "./PasswordField";
import { Radios } from "./Radios";
import { reaches, roles } from "./roles";
import { keyMay, scopeRole, scopeWhat } from "./scopes";
import { Left } from "./Until";
import "../styles/dialog.css";
import "../styles/heartbeat.css";
import { Rich } from "../words/Rich";
import { t } from "../words/t";

const DAY_S = 86_400;
const lasts: readonly [seconds: number, word: string][] = [
  [30 * DAY_S, t("in 30 days")],
  [90 * DAY_S, t("in 90 days")],
  [365 * DAY_S, t("in a year")],
  [0, t("never")],
];

/** Makes a key with some rights, for some time; it is shown once. */
export default function KeyDialog({ onClose }: { onClose: () => void }) {
  const queries = useQueryClient();
  const most = useSession()?.role ?? "viewer";
  const { form, problems, refuse } = useProblems();
  const [name, setName] = useState("");
  const [by, setBy] = useState<"scopes" | "role">("scopes");
  const [chosen, setChosen] = useState<Scope[]>(["read"]);
  const [role, setRole] = useState<Role>("viewer");
  const [expires, setExpires] = useState(90 * DAY_S);
  const [password, setPassword] = useCurrentPassword();
  const [made, setMade] = useState<ApiKey | null>(null);
  const save = useMutation({
    mutationFn: () => {
      const body: KeyInput = {
        name: name.trim(),
        ...(by === "role" ? { role } : { scopes: chosen }),
        current_password: password,
      };
      return accountApi.createKey(expires === 0 ? body : { ...body, expires_s: expires });
    },
    onSuccess: (key) => {
      void queries.invalidateQueries({ queryKey: ["keys"] });
      setMade(key);
    },
    onError: (error) => refuse(problemsOf(error, ["/name", "/scopes", "/role", "/expires_s", "/current_password"])),
  });
  const submit = () => {
    const found: Problems = {};
    if (name.trim() === "") found["/name"] = t("Give it a name, such as the program that will use it.");
    if (by === "scopes" && chosen.length === 0) found["/scopes"] = t("Tick what it may do.");
    refuse(found);
    if (Object.keys(found).length === 0) save.mutate();
  };
  if (made) return <Made of={made} onClose={onClose} />;
  return (
    <DialogForm
      title={t("Make an API key")}
      form={form}
      problems={problems}
      busy={save.isPending}
      act={t("Make the key")}
      acting={t("Making")}
      onSubmit={submit}
      onClose={onClose}
    >
      <Field label={t("Name")} error={problems["/name"]} hint={t("What will use it, so that you know it again.")}>
        {(bound) => (
          <input
            {...bound}
            className="input"
            autoComplete="off"
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
        )}
      </Field>
      <Radios
        label={t("It may do")}
        value={by}
        of={[
          ["scopes", t("Only what is ticked"), t("The safer way: little is lost when it leaks.")],
          ["role", t("All that a role may"), t("For programs that need most of the API.")],
        ]}
        onChange={setBy}
      />
      {by === "scopes" ? (
        <ScopeTicks most={most} chosen={chosen} error={problems["/scopes"]} onChange={setChosen} />
      ) : (
        <Field
          label={t("Role")}
          error={problems["/role"]}
          hint={t("Never more than you may, also when your role changes.")}
        >
          {(bound) => (
            <select {...bound} className="input" value={role} onChange={(event) => setRole(event.target.value as Role)}>
              {roles
                .filter((one) => reaches(most, one))
                .map((one) => (
                  <option key={one} value={one}>
                    {t(
                      "{role, select, owner {All that an owner may} editor {All that an editor may} other {All that a viewer may}}",
                      { role: one },
                    )}
                  </option>
                ))}
            </select>
          )}
        </Field>
      )}
      <Field label={t("It expires")} error={problems["/expires_s"]}>
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

/** What a key may, one by one; what is beyond one's own role is not offered. */
function ScopeTicks({
  most,
  chosen,
  error,
  onChange,
}: {
  most: Role;
  chosen: readonly Scope[];
  error: string | undefined;
  onChange: (chosen: Scope[]) => void;
}) {
  return (
    <fieldset className="radios">
      <legend>{t("Rights")}</legend>
      {scopes
        .filter((scope) => reaches(most, scopeRole[scope]))
        .map((scope) => (
          <label key={scope} className="radio">
            <input
              type="checkbox"
              aria-describedby={`scope-${scope}`}
              aria-invalid={error ? true : undefined}
              checked={chosen.includes(scope)}
              onChange={(event) =>
                onChange(event.target.checked ? [...chosen, scope] : chosen.filter((one) => one !== scope))
              }
            />
            <span>
              <b>{scope}</b>
              <span className="muted" id={`scope-${scope}`}>
                {scopeWhat[scope]}
              </span>
            </span>
          </label>
        ))}
      {error && <p className="problem">{error}</p>}
    </fieldset>
  );
}

function Made({ of: key, onClose }: { of: ApiKey; onClose: () => void }) {
  return (
    <Dialog title={t("Keep this key")} onClose={onClose}>
      <div className="dialog-body">
        <p>
          {t("It may: {what}. It is shown only now: put it where the program finds it, and nowhere else.", {
            what: keyMay(key),
          })}
        </p>
        <CopyText label={t("key")} text={key.key ?? ""} />
        <p className="muted">{t("Try it:")}</p>
        <CopyText
          label={t("command")}
          text={`curl -H "Authorization: Bearer ${key.key}" ${location.origin}/api/v1/targets`}
        />
        <p className="muted">
          {key.expires_at ? (
            <Rich text="It expires in {time}." time={<Left at={key.expires_at} />} />
          ) : (
            t("It does not expire: revoke it when nothing uses it any more.")
          )}
        </p>
      </div>
      <div className="dialog-foot">
        <button type="button" className="btn primary" onClick={onClose}>
          {t("Done")}
        </button>
      </div>
      <KeptFirst />
    </Dialog>
  );
}
