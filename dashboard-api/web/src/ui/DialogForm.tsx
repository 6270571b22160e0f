import type { FormEvent, ReactNode, RefObject } from "react";
import { AskFirst } from "./AskFirst";
import { CloseButton, Dialog } from "./Dialog";
import { FormProblem } from "./FormProblem";
import type { Problems } from "./problems";
import "../styles/dialog.css";
import { t } from "../words/t";

/** A dialog that asks for something and does it once: while it is busy nothing is sent again. */
export function DialogForm({
  title,
  form,
  problems,
  busy,
  act,
  acting = act,
  keep = t("Cancel"),
  className = "",
  entered = false,
  onSubmit,
  onClose,
  children,
}: {
  title: string;
  /** From useProblems: the first field that is wrong takes the focus. */
  form: RefObject<HTMLFormElement | null>;
  problems: Problems;
  busy: boolean;
  act: string;
  /** What the button says meanwhile. */
  acting?: string;
  keep?: string;
  className?: string;
  /** Something is entered that is asked for before it is given up. */
  entered?: boolean;
  onSubmit: () => void;
  onClose: () => void;
  children: ReactNode;
}) {
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!busy) onSubmit();
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <form ref={form} onSubmit={submit} noValidate autoComplete="off">
        <div className={`dialog-body ${className}`.trim()}>
          <FormProblem problems={problems} />
          {children}
        </div>
        <div className="dialog-foot">
          <CloseButton>{keep}</CloseButton>
          <button type="submit" className="btn primary" disabled={busy}>
            {busy ? acting : act}
          </button>
        </div>
      </form>
      <AskFirst when={entered} />
    </Dialog>
  );
}
