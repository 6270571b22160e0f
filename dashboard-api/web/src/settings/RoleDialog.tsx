import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { accountApi, type Member, type Role } from "../api/accounts";
import { useToast } from "../app/toasts";
import { useSelf } from "../app/useSelf";
import { DialogForm } from "../ui/DialogForm";
import { problemsOf } from "../ui/problems";
import { useProblems } from "../ui/useProblems";
import { Radios } from "./Radios";
import { aRole, nameOf, roles, roleWhat, roleWords } from "./roles";

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
    mutationFn: () => accountApi.setRole(member.id, role),
    onSuccess: () => {
      if (own) return location.assign("/login"); // the session has ended with the role
      void queries.invalidateQueries({ queryKey: ["members"] });
      toast({ text: `${name} is ${aRole(role)} now.` });
      onClose();
    },
    onError: (error) => refuse(problemsOf(error, [])),
  });
  const submit = () => {
    if (role === member.role) return onClose();
    save.mutate();
  };
  return (
    <DialogForm
      title={own ? "Change your own role" : `Change the role of ${name}`}
      form={form}
      problems={problems}
      busy={save.isPending}
      act={role === member.role ? "Close" : `Make ${own ? "me" : name} ${aRole(role)}`}
      acting="Saving"
      onSubmit={submit}
      onClose={onClose}
    >
      <Radios
        label="Role"
        value={role}
        of={roles.map((one) => [one, roleWords[one], roleWhat[one]] as const)}
        onChange={setRole}
      />
      <p className="muted">
        {own ? "You are" : `${name} is`} signed out everywhere and signs in again with the new role. API keys of{" "}
        {own ? "yours" : name} live on, and do no more than the new role may.
      </p>
    </DialogForm>
  );
}
