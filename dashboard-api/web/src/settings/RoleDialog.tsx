import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { accountApi, type Member, type Role } from "../api/accounts";
import { useToast } from "../app/toasts";
import { useSelf } from "../app/useSelf";
import { DialogForm } from "../ui/DialogForm";
import { problemsOf } from "../ui/problems";
import { useProblems } from "../ui/useProblems";
import { t } from "../words/t";
import { Radios } from "./Radios";
import { nameOf, roles, roleWhat, roleWords } from "./roles";

const makeMe = (role: Role): string =>
  t("{role, select, owner {Make me an owner} editor {Make me an editor} other {Make me a viewer}}", { role });
const make = (name: string, role: Role): string =>
  t("{role, select, owner {Make {name} an owner} editor {Make {name} an editor} other {Make {name} a viewer}}", {
    role,
    name,
  });

/** Gives somebody another role, and says what that ends. */
export function RoleDialog({ member, onClose }: { member: Member; onClose: () => void }) {
  const queries = useQueryClient();
  const toast = useToast();
  const self = useSelf();
  const { form, problems, refuse } = useProblems();
  const [role, setRole] = useState<Role>(member.role);
  const name = nameOf(member);
  const own = member.id === self?.id;
  const save = useMutation({
    mutationFn: () => accountApi.setRole(member, role),
    onSuccess: () => {
      if (own) return location.assign("/login"); // the session has ended with the role
      void queries.invalidateQueries({ queryKey: ["members"] });
      toast({
        text: t(
          "{role, select, owner {{name} is an owner now.} editor {{name} is an editor now.} other {{name} is a viewer now.}}",
          { role, name },
        ),
      });
      onClose();
    },
    onError: (error) => {
      void queries.invalidateQueries({ queryKey: ["members"] }); // opened again, it begins with what they are now
      refuse(problemsOf(error, [], t("Somebody else changed this account.")));
    },
  });
  const submit = () => {
    if (role === member.role) return onClose();
    save.mutate();
  };
  return (
    <DialogForm
      title={own ? t("Change your own role") : t("Change the role of {name}", { name })}
      form={form}
      problems={problems}
      busy={save.isPending}
      act={role === member.role ? t("Close") : own ? makeMe(role) : make(name, role)}
      acting={t("Saving")}
      onSubmit={submit}
      onClose={onClose}
    >
      <Radios
        label={t("Role")}
        value={role}
        of={roles.map((one) => [one, roleWords[one], roleWhat[one]] as const)}
        onChange={setRole}
      />
      <p className="muted">
        {own
          ? t(
              "You are signed out everywhere and sign in again with the new role. API keys of yours live on, and do no more than the new role may.",
            )
          : t(
              "{name} is signed out everywhere and signs in again with the new role. API keys of {name} live on, and do no more than the new role may.",
              { name },
            )}
      </p>
    </DialogForm>
  );
}
