import { X } from "lucide-react";
import { createContext, type ReactNode, useCallback, useContext, useEffect, useMemo, useRef, useState } from "react";
import { t } from "../words/t";
import { useAnnounce } from "./announcer";
import { useKeys } from "./keys";

export interface ToastInput {
  text: string;
  bad?: boolean;
  action?: { label: string; run: () => void };
  /** Runs when the time is over and the action was not taken. */
  onExpire?: () => unknown;
}

interface Toast extends ToastInput {
  id: number;
}

const SHOWN_MS = 6_000;
/** Of one with an action: that has to be read, and reached. */
const OFFERED_MS = 10_000;
/** The key of the newest action. */
export const ACTION_KEY = "z";

const ToastContext = createContext<{ push: (toast: ToastInput) => void; settle: () => Promise<unknown> }>({
  push: () => {},
  settle: async () => {},
});

export const useToast = () => useContext(ToastContext).push;

/** Ends the time of all there are, and waits until what that did is done. */
export const useSettle = () => useContext(ToastContext).settle;

/** Short messages at the corner; one with an action waits longer, and while it has the pointer or the focus. */
export function Toasts({ children }: { children: ReactNode }) {
  const [toasts, setToasts] = useState<Toast[]>([]);
  const next = useRef(1);
  const open = useRef(new Map<number, Toast>());
  const announce = useAnnounce();

  const push = useCallback(
    (toast: ToastInput) => {
      const shown = { ...toast, id: next.current++ };
      open.current.set(shown.id, shown);
      setToasts((all) => [...all, shown]);
      if (!toast.action) return announce(toast.text);
      const offer = t("{action} is available, with the key {key}.", { action: toast.action.label, key: ACTION_KEY });
      announce(`${toast.text} ${offer}`);
    },
    [announce],
  );
  /** Of the ends that one can have, the first. */
  const end = useCallback((id: number, by: "action" | "time") => {
    const toast = open.current.get(id);
    if (!toast) return;
    open.current.delete(id);
    setToasts((all) => all.filter((one) => one.id !== id));
    return by === "action" ? toast.action?.run() : toast.onExpire?.();
  }, []);
  const settle = useCallback(() => Promise.allSettled([...open.current.keys()].map((id) => end(id, "time"))), [end]);
  useEffect(() => {
    window.addEventListener("pagehide", settle);
    return () => window.removeEventListener("pagehide", settle);
  }, [settle]);
  const newest = toasts.findLast((toast) => toast.action)?.id;
  useKeys(newest === undefined ? {} : { [ACTION_KEY]: () => end(newest, "action") });
  const ways = useMemo(() => ({ push, settle }), [push, settle]);

  return (
    <ToastContext value={ways}>
      {children}
      <section className="toasts" aria-label={t("Messages")}>
        {toasts.map((toast) => (
          <ToastCard key={toast.id} toast={toast} keyed={toast.id === newest} onEnd={end} />
        ))}
      </section>
    </ToastContext>
  );
}

function ToastCard({
  toast,
  keyed,
  onEnd,
}: {
  toast: Toast;
  keyed: boolean;
  onEnd: (id: number, by: "action" | "time") => void;
}) {
  const [pointed, setPointed] = useState(false);
  const [focused, setFocused] = useState(false);
  const held = pointed || focused;
  useEffect(() => {
    if (held) return;
    const timer = setTimeout(() => onEnd(toast.id, "time"), toast.action ? OFFERED_MS : SHOWN_MS);
    return () => clearTimeout(timer);
  }, [held, onEnd, toast]);

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: pointer and focus only hold the timer
    <div
      className={toast.bad ? "toast bad" : "toast"}
      onPointerEnter={() => setPointed(true)}
      onPointerLeave={() => setPointed(false)}
      onFocus={() => setFocused(true)}
      onBlur={() => setFocused(false)}
    >
      <span>{toast.text}</span>
      {toast.action && (
        <button
          type="button"
          className="btn"
          aria-keyshortcuts={keyed ? ACTION_KEY : undefined}
          onClick={() => onEnd(toast.id, "action")}
        >
          {toast.action.label} {keyed && <kbd aria-hidden>{ACTION_KEY}</kbd>}
        </button>
      )}
      <button type="button" className="icon-btn" aria-label={t("Dismiss")} onClick={() => onEnd(toast.id, "time")}>
        <X size={16} aria-hidden />
      </button>
    </div>
  );
}
