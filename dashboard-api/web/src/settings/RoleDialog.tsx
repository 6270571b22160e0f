import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { accountApi, type Member, type Role } from "../api/accounts";
import { useToast } from "../app/toasts";
import { useSelf } from "../app/useSelf";
import { Dialog } from "../ui/Dialog";
import { FormProblem } from "../ui/FormProblem";
import { problemsOf } from "../ui/problems";
import { useProblems } from "../ui/useProblems";
import { Radios } from "./Radios";
import { aRole, nameOf, roles, roleWhat, roleWords } from "./roles";
import "../styles/dialog.css";

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
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (role === member.role) return onClose();
    if (!save.isPending) save.mutate();
  };
  return (
    <Dialog title={own ? "Change your own role" : `Change the role of ${name}`} onClose={onClose}>
      <form ref={form} onSubmit={submit} noValidate>
        <div className="dialog-body">
          <FormProblem problems={problems} />
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
        </div>
        <div className="dialog-foot">
          <button type="button" className="btn" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" className="btn primary" disabled={save.isPending}>
            {save.isPending ? "Saving" : role === member.role ? "Close" : `Make ${own ? "me" : name} ${aRole(role)}`}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
