import { type RefObject, useEffect, useRef, useState } from "react";
import { firstProblem } from "./focusAfter";
import type { Problems } from "./problems";

/** What is wrong with a form; the first field that is takes the focus, as soon as it is marked. */
export function useProblems(): {
  form: RefObject<HTMLFormElement | null>;
  problems: Problems;
  refuse: (found: Problems) => void;
} {
  const form = useRef<HTMLFormElement>(null);
  const [problems, refuse] = useState<Problems>({});
  useEffect(() => {
    if (Object.keys(problems).length === 0) return;
    firstProblem(form.current)?.focus();
  }, [problems]);
  return { form, problems, refuse };
}
