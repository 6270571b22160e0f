import { Fragment, isValidElement, type ReactElement, type ReactNode } from "react";
import { parts } from "./t";

type Value = string | number | ReactElement | ((inner: ReactNode) => ReactElement);

/**
 * A sentence with elements in it, in the language of the page:
 * `<Rich text="Read <a>the log</a> of {name}." a={(inner) => <Link …>{inner}</Link>} name={<b>…</b>} />`.
 */
export function Rich({ text, ...values }: { text: string } & Record<string, Value>) {
  return parts<ReactNode>(text, values as Parameters<typeof parts<ReactNode>>[1]).map((part, i) =>
    // The parts of a sentence are never re-ordered without being written anew.
    // biome-ignore lint/suspicious/noArrayIndexKey: see above
    isValidElement(part) || Array.isArray(part) ? <Fragment key={i}>{part}</Fragment> : part,
  );
}
