// The rule of a target in its form: as on the page that tries it on the past, with its mistakes among the others.

import type { TargetInput } from "../api/types";
import { pointers, policyOf, type RuleDraft, type RuleErrors } from "../rule/rule";
import type { Errors } from "./form";
import { same } from "./part";

/** The rule as the body has it: nothing when it did not change. */
export function ruleBody(draft: RuleDraft, before: RuleDraft): { body: Pick<TargetInput, "policy">; errors: Errors } {
  if (same(draft, before)) return { body: {}, errors: {} };
  const parsed = policyOf(draft);
  return parsed.ok ? { body: { policy: parsed.policy }, errors: {} } : { body: {}, errors: pointed(parsed.errors) };
}

/** The mistakes of a rule by where the server would point. */
export function pointed(found: RuleErrors): Errors {
  const errors: Errors = {};
  for (const [pointer, field] of pointers) {
    const why = found[field];
    if (why) errors[pointer] = why;
  }
  return errors;
}

/** Of the mistakes of a form those of the rule, by its fields; what belongs to none of them is under `form`. */
export function ruleErrorsIn(errors: Errors): RuleErrors {
  const found: RuleErrors = {};
  for (const [at, message] of Object.entries(errors)) {
    if (at !== "/policy" && !at.startsWith("/policy/")) continue;
    const field = pointers.find(([pointer]) => pointer === at)?.[1] ?? "form";
    found[field] = [found[field], message].filter(Boolean).join(" ");
  }
  return found;
}
