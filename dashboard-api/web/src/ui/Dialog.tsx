import { X } from "lucide-react";
import {
  createContext,
  type KeyboardEvent,
  type ReactNode,
  type RefObject,
  useContext,
  useId,
  useLayoutEffect,
  useMemo,
  useRef,
} from "react";
import { t } from "../words/t";

interface Closing {
  /** What is to be done in place of closing; null: it may close. AskFirst sets it. */
  guard: RefObject<(() => void) | null>;
  /** Closes, unless there is something to ask first. */
  ask: () => void;
  close: () => void;
}

const nowhere: Closing = { guard: { current: null }, ask: () => {}, close: () => {} };
const ClosingContext = createContext(nowhere);

/** Of the dialog that this is in. */
export const useClosing = () => useContext(ClosingContext);

/** A modal dialog: the browser's own, which traps focus, closes on Escape and gives focus back. */
export function Dialog({ title, onClose, children }: { title: string; onClose: () => void; children: ReactNode }) {
  const ref = useRef<HTMLDialogElement>(null);
  const id = useId();
  const guard = useRef<(() => void) | null>(null);
  const gone = useRef(false);
  const latest = useRef(onClose);
  latest.current = onClose;
  const closing = useMemo<Closing>(
    () => ({ guard, ask: () => (guard.current ?? latest.current)(), close: () => latest.current() }),
    [],
  );
  // Before it leaves the page: one that is gone gives no focus back.
  useLayoutEffect(() => {
    const dialog = ref.current;
    gone.current = false;
    dialog?.showModal();
    const first = dialog?.querySelector<HTMLElement>("input, select, textarea");
    (first ?? dialog?.querySelector<HTMLElement>(".copy-text button, [data-begin]"))?.focus();
    return () => {
      gone.current = true;
      dialog?.close();
    };
  }, []);
  // Escape is taken as a key: of the browser's own way, what was prevented once cannot be prevented again.
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Escape" || event.defaultPrevented || event.nativeEvent.isComposing) return;
    event.preventDefault();
    event.stopPropagation(); // of two dialogs, the one in front
    closing.ask();
  };
  return (
    <dialog
      ref={ref}
      aria-labelledby={id}
      onKeyDown={onKeyDown}
      onCancel={(event) => {
        if (event.target !== event.currentTarget) return;
        event.preventDefault();
        closing.ask();
      }}
      onClose={(event) => {
        if (event.target !== event.currentTarget || gone.current || event.currentTarget.open) return;
        if (guard.current) event.currentTarget.showModal(); // the browser closed it without asking
        closing.ask();
      }}
    >
      <ClosingContext value={closing}>
        <div className="dialog-head">
          <h2 id={id}>{title}</h2>
          <button type="button" className="icon-btn" aria-label={t("Close")} onClick={closing.ask}>
            <X size={18} aria-hidden />
          </button>
        </div>
        {children}
      </ClosingContext>
    </dialog>
  );
}

/** Closes the dialog that it is in, as Escape does. */
export function CloseButton({ children }: { children: ReactNode }) {
  return (
    <button type="button" className="btn" onClick={useClosing().ask}>
      {children}
    </button>
  );
}
