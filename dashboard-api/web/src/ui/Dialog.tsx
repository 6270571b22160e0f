import { X } from "lucide-react";
import { type ReactNode, useEffect, useId, useRef } from "react";
import { t } from "../words/t";

/** A modal dialog: the browser's own, which traps focus, closes on Escape and gives focus back. */
export function Dialog({ title, onClose, children }: { title: string; onClose: () => void; children: ReactNode }) {
  const ref = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const dialog = ref.current;
    dialog?.showModal();
    const first = dialog?.querySelector<HTMLElement>("input, select, textarea");
    (first ?? dialog?.querySelector<HTMLElement>(".copy-text button"))?.focus();
    return () => dialog?.close();
  }, []);
  return (
    <dialog
      ref={ref}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      <div className="dialog-head">
        <h2 id={id}>{title}</h2>
        <button type="button" className="icon-btn" aria-label={t("Close")} onClick={onClose}>
          <X size={18} aria-hidden />
        </button>
      </div>
      {children}
    </dialog>
  );
}
