import { X } from "lucide-react";
import { createContext, type ReactNode, useCallback, useContext, useEffect, useMemo, useRef, useState } from "react";
import { t } from "../words/t";
import { useAnnounce } from "./announcer";

interface ToastInput {
  text: string;
  bad?: boolean;
  action?: { label: string; run: () => void };
  /** Runs when the time is over and the action was not taken. */
  onExpire?: () => void;
}

interface Toast extends ToastInput {
  id: number;
}

const SHOWN_MS = 6_000;
const ToastContext = createContext<(toast: ToastInput) => void>(() => {});

export const useToast = () => useContext(ToastContext);

/** Short messages at the corner; one with an action waits longer while it has the pointer or the focus. */
export function Toasts({ children }: { children: ReactNode }) {
  const [toasts, setToasts] = useState<Toast[]>([]);
  const next = useRef(1);
  const announce = useAnnounce();

  const push = useCallback(
    (toast: ToastInput) => {
      const id = next.current++;
      setToasts((all) => [...all, { ...toast, id }]);
      announce(
        toast.action ? `${toast.text} ${t("{action} is available.", { action: toast.action.label })}` : toast.text,
      );
    },
    [announce],
  );
  const remove = useCallback((id: number) => setToasts((all) => all.filter((toast) => toast.id !== id)), []);

  return (
    <ToastContext value={push}>
      {children}
      <section className="toasts" aria-label={t("Messages")}>
        {toasts.map((toast) => (
          <ToastCard key={toast.id} toast={toast} onGone={remove} />
        ))}
      </section>
    </ToastContext>
  );
}

function ToastCard({ toast, onGone }: { toast: Toast; onGone: (id: number) => void }) {
  const [held, setHeld] = useState(false);
  const settled = useRef(false);
  const finish = useMemo(
    () => (after?: () => void) => {
      if (settled.current) return;
      settled.current = true;
      after?.();
      onGone(toast.id);
    },
    [toast, onGone],
  );
  useEffect(() => {
    if (held) return;
    const timer = setTimeout(() => finish(toast.onExpire), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [held, finish, toast]);
  useEffect(() => {
    const onLeave = () => finish(toast.onExpire);
    window.addEventListener("pagehide", onLeave);
    return () => window.removeEventListener("pagehide", onLeave);
  }, [finish, toast]);

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: pointer and focus only hold the timer
    <div
      className={toast.bad ? "toast bad" : "toast"}
      onPointerEnter={() => setHeld(true)}
      onPointerLeave={() => setHeld(false)}
      onFocus={() => setHeld(true)}
      onBlur={() => setHeld(false)}
    >
      <span>{toast.text}</span>
      {toast.action && (
        <button type="button" className="btn" onClick={() => finish(toast.action?.run)}>
          {toast.action.label}
        </button>
      )}
      <button type="button" className="icon-btn" aria-label={t("Dismiss")} onClick={() => finish(toast.onExpire)}>
        <X size={16} aria-hidden />
      </button>
    </div>
  );
}
