import { flushSync } from "react-dom";

/**
 * Makes a change, and gives the focus to something that is there only since. It is drawn at once for that: on a
 * busy machine the next frame comes before React has drawn what was changed after an answer.
 */
export function focusAfter(change: () => void, what: () => HTMLElement | null | undefined): void {
  flushSync(change);
  what()?.focus();
}

/** The first thing in a form that says what is wrong. */
export const firstProblem = (form: HTMLElement | null) =>
  form?.querySelector<HTMLElement>("[aria-invalid=true], [role=alert]");
