import { type RefObject, useEffect, useRef, useState } from "react";
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
    form.current?.querySelector<HTMLElement>("[aria-invalid=true], [role=alert]")?.focus();
  }, [problems]);
  return { form, problems, refuse };
}
