import { X } from "lucide-react";
import { type KeyboardEvent, useId, useMemo, useState } from "react";
import { useList, useLive } from "../app/live";
import { t } from "../words/t";
import { Field } from "./Field";
import { StateIcon } from "./StateIcon";
import { shortUrl } from "./words";

const SHOWN = 8;

/** One target out of all there are: type a part of its name or address, or walk with the arrows. */
export function TargetPicker({
  label,
  value,
  error,
  hint,
  clearable = false,
  none = t("All targets"),
  without,
  onChange,
}: {
  label: string;
  value: number | null;
  error?: string | undefined;
  hint?: string;
  clearable?: boolean;
  /** What choosing none means. */
  none?: string;
  /** Those that cannot be chosen. */
  without?: ReadonlySet<number>;
  onChange: (id: number | null) => void;
}) {
  const { store } = useLive();
  const { version } = useList();
  const [typed, setTyped] = useState<string | null>(null);
  const [at, setAt] = useState(0);
  const id = useId();
  const open = typed !== null;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the store changes with its version
  const found = useMemo(() => {
    if (typed === null) return [];
    const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
    const matches = store.all().filter((target) => {
      if (without?.has(target.id)) return false;
      const text = `${target.name} ${target.url}`.toLowerCase();
      return words.every((word) => text.includes(word));
    });
    return matches.slice(0, SHOWN);
  }, [typed, store, version, without]);
  const chosen = value === null ? "" : (store.get(value)?.name ?? t("Target {id}", { id: String(value) }));

  const choose = (target: number | undefined) => {
    if (target !== undefined) onChange(target);
    setTyped(null);
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (!open) return setTyped("");
      const step = event.key === "ArrowDown" ? 1 : -1;
      setAt((i) => (i + step + found.length) % Math.max(1, found.length));
    } else if (open && event.key === "Enter") {
      event.preventDefault();
      choose(found[at]?.id);
    } else if (open && event.key === "Escape") {
      event.preventDefault(); // the list closes, not the dialog around it
      event.stopPropagation();
      setTyped(null);
    }
  };
  return (
    <Field label={label} error={error} hint={hint}>
      {(bound) => (
        <div className="picker">
          <div className="picker-input">
            <input
              {...bound}
              className="input"
              role="combobox"
              autoComplete="off"
              spellCheck={false}
              aria-expanded={open}
              aria-controls={`${id}-list`}
              aria-autocomplete="list"
              aria-activedescendant={open && found[at] ? `${id}-${at}` : undefined}
              placeholder={clearable && !open ? none : t("Name or address")}
              value={typed ?? chosen}
              onClick={() => !open && setTyped("")}
              onChange={(event) => {
                setTyped(event.target.value);
                setAt(0);
              }}
              onKeyDown={onKey}
              onBlur={() => setTyped(null)}
            />
            {clearable && value !== null && (
              <button type="button" className="icon-btn" aria-label={none} onClick={() => onChange(null)}>
                <X size={15} aria-hidden />
              </button>
            )}
          </div>
          <div id={`${id}-list`} className="picker-list" role="listbox" aria-label={label} hidden={!open}>
            {found.map((target, i) => (
              // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are the field's
              <div
                key={target.id}
                id={`${id}-${i}`}
                role="option"
                aria-selected={i === at}
                tabIndex={-1}
                onMouseDown={(event) => event.preventDefault() /* the field keeps the focus */}
                onClick={() => choose(target.id)}
              >
                <StateIcon state={target.state} size={15} />
                <span className="cut">{target.name}</span>
                <span className="muted cut">
                  <bdi dir="ltr">{shortUrl(target.url)}</bdi>
                </span>
              </div>
            ))}
            {open && found.length === 0 && (
              <div className="muted" role="option" aria-selected={false} aria-disabled tabIndex={-1}>
                {t("No target matches")}
              </div>
            )}
          </div>
        </div>
      )}
    </Field>
  );
}
