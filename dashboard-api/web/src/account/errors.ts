import type { Problem } from "../api/types";
import { sentence } from "../ui/problems";

export type AccountErrors = Partial<Record<"token" | "email" | "name" | "password" | "code" | "form", string>>;

/** Puts each error at its field, the rest above the form. */
export function accountErrors(problem: Problem): AccountErrors {
  const errors: AccountErrors = {};
  for (const { pointer, message } of problem.errors ?? []) {
    const field = pointer.slice(1);
    errors[isField(field) ? field : "form"] = sentence(message);
  }
  if (Object.keys(errors).length === 0) errors.form = sentence(problem.detail || problem.title);
  return errors;
}

function isField(name: string): name is "token" | "email" | "name" | "password" | "code" {
  return ["token", "email", "name", "password", "code"].includes(name);
}
