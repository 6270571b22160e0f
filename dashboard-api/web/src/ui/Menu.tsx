import { Check } from "lucide-react";
import {
  createContext,
  type KeyboardEvent,
  type ReactNode,
  useContext,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from "react";
import { direction } from "../words/t";

const CloseContext = createContext<() => void>(() => {});

/**
 * A menu on the browser's own popover: top layer, Escape and a click elsewhere
 * close it, focus returns to the button. Arrow keys, Home and End walk through it.
 */
export function Menu({
  label,
  icon,
  worded = false,
  children,
}: {
  label: string;
  icon: ReactNode;
  /** Its button says the label, instead of showing the icon alone. */
  worded?: boolean;
  children: ReactNode;
}) {
  const [open, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const popup = useRef<HTMLDivElement>(null);
  const id = useId();

  useLayoutEffect(() => {
    const menu = popup.current;
    if (!open || !menu || !button.current) return;
    menu.showPopover();
    place(menu, button.current.getBoundingClientRect());
    items(menu)[0]?.focus();
  }, [open]);

  const close = () => {
    popup.current?.hidePopover();
    button.current?.focus();
  };
  const onKey = (event: KeyboardEvent<HTMLDivElement>) => {
    const all = items(event.currentTarget);
    const at = all.indexOf(document.activeElement as HTMLElement);
    const next: Record<string, number> = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 };
    const to = next[event.key];
    if (to !== undefined) {
      event.preventDefault();
      all.at(to % all.length)?.focus();
    } else if (event.key === "Tab") {
      close();
    }
  };

  return (
    <>
      <button
        ref={button}
        type="button"
        className={worded ? "btn" : "icon-btn"}
        aria-label={worded ? undefined : label}
        aria-haspopup="menu"
        aria-expanded={open}
        aria-controls={open ? id : undefined}
        onClick={() => setOpen(!open)}
      >
        {icon} {worded && label}
      </button>
      {open && (
        <div
          ref={popup}
          id={id}
          popover="auto"
          role="menu"
          tabIndex={-1}
          aria-label={label}
          className="menu"
          onKeyDown={onKey}
          onToggle={(event) => event.newState === "closed" && setOpen(false)}
        >
          <CloseContext value={close}>{children}</CloseContext>
        </div>
      )}
    </>
  );
}

const items = (menu: HTMLElement) => [...menu.querySelectorAll<HTMLElement>('[role^="menuitem"]')];

function place(menu: HTMLElement, anchor: DOMRect): void {
  const { offsetWidth: width, offsetHeight: height } = menu;
  const below = anchor.bottom + 5 + height <= window.innerHeight;
  menu.style.top = `${below ? anchor.bottom + 5 : Math.max(8, anchor.top - height - 5)}px`;
  const left =
    direction() === "rtl" ? Math.min(anchor.left, window.innerWidth - width - 8) : Math.max(8, anchor.right - width);
  menu.style.left = `${left}px`;
}

export function MenuItem({
  icon,
  danger = false,
  onSelect,
  children,
}: {
  icon?: ReactNode;
  danger?: boolean;
  onSelect: () => void;
  children: ReactNode;
}) {
  const close = useContext(CloseContext);
  return (
    <button
      type="button"
      role="menuitem"
      tabIndex={-1}
      className={danger ? "danger" : undefined}
      onClick={() => {
        close();
        onSelect();
      }}
    >
      {icon} {children}
    </button>
  );
}

/** One of several; choosing leaves the menu open, so that the effect can be seen. */
export function MenuChoice<T extends string>({
  label,
  value,
  options,
  onChange,
}: {
  label: string;
  value: T;
  options: readonly { value: T; label: string; icon?: ReactNode }[];
  onChange: (value: T) => void;
}) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a group inside a menu
    <div role="group" aria-label={label}>
      <div className="menu-label" aria-hidden>
        {label}
      </div>
      {options.map((option) => (
        <button
          key={option.value}
          type="button"
          role="menuitemradio"
          aria-checked={option.value === value}
          tabIndex={-1}
          onClick={() => onChange(option.value)}
        >
          {option.icon} {option.label}
          {option.value === value && <Check size={15} aria-hidden className="tick" />}
        </button>
      ))}
    </div>
  );
}
