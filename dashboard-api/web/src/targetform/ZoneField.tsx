import { ChevronsUpDown } from "lucide-react";
import { type KeyboardEvent, useEffect, useId, useMemo, useRef, useState } from "react";
import { Field } from "../ui/Field";
import { t } from "../words/t";
import { allZones, matching, offsetOf } from "./zones";

/** A time zone out of a list that can be searched: type a part of its name, or walk with the arrows. */
export function ZoneField({
  value,
  error,
  onChange,
}: {
  value: string;
  error: string | undefined;
  onChange: (zone: string) => void;
}) {
  const zones = useMemo(allZones, []);
  const now = useMemo(() => new Date(), []);
  const [typed, setTyped] = useState<string | null>(null); // null: closed, the field shows what is chosen
  const [at, setAt] = useState(0);
  const list = useRef<HTMLDivElement>(null);
  const id = useId();
  const open = typed !== null;
  const offsets = useMemo(
    () => (open ? new Map(zones.map((zone) => [zone, offsetOf(zone, now)])) : null),
    [open, zones, now],
  );
  const found = useMemo(() => matching(zones, typed ?? ""), [zones, typed]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: follows the marked line
  useEffect(() => {
    list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }, [at, open]);

  const show = () => {
    setTyped("");
    setAt(Math.max(0, zones.indexOf(value)));
  };
  const choose = (zone: string | undefined) => {
    if (zone) onChange(zone);
    setTyped(null);
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (!open) return show();
      const step = event.key === "ArrowDown" ? 1 : -1;
      setAt((i) => (i + step + found.length) % Math.max(1, found.length));
    } else if (open && event.key === "Enter") {
      event.preventDefault();
      choose(found[at]);
    } else if (open && event.key === "Escape") {
      event.preventDefault(); // the list closes, not the dialog around it
      event.stopPropagation();
      setTyped(null);
    }
  };

  const offset = offsetOf(value, now);
  return (
    <Field
      label={t("Time zone")}
      error={error}
      hint={open ? undefined : offset && t("{offset} now; changes with the clocks.", { offset })}
    >
      {(bound) => (
        <div className="zone">
          <div className="zone-input">
            <input
              {...bound}
              className="input"
              name="zone"
              role="combobox"
              autoComplete="off"
              spellCheck={false}
              aria-expanded={open}
              aria-controls={`${id}-list`}
              aria-autocomplete="list"
              aria-activedescendant={open && found[at] ? `${id}-${at}` : undefined}
              placeholder={open ? t("Search, such as Berlin") : undefined}
              value={typed ?? value}
              onClick={() => !open && show()}
              onChange={(event) => {
                setTyped(event.target.value);
                setAt(0);
              }}
              onKeyDown={onKey}
              onBlur={() => setTyped(null)}
            />
            <ChevronsUpDown size={16} aria-hidden />
          </div>
          <div
            ref={list}
            id={`${id}-list`}
            className="zone-list"
            role="listbox"
            aria-label={t("Time zones")}
            hidden={!open}
          >
            {open &&
              found.map((zone, i) => (
                // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are the field's
                <div
                  key={zone}
                  id={`${id}-${i}`}
                  role="option"
                  aria-selected={i === at}
                  tabIndex={-1}
                  onMouseDown={(event) => event.preventDefault() /* the field keeps the focus */}
                  onClick={() => choose(zone)}
                >
                  <span>{zone.replaceAll("_", " ")}</span>
                  <span className="muted">{offsets?.get(zone)}</span>
                </div>
              ))}
            {open && found.length === 0 && (
              <div className="muted" role="option" aria-selected={false} aria-disabled tabIndex={-1}>
                {t("No zone has that name")}
              </div>
            )}
          </div>
        </div>
      )}
    </Field>
  );
}
