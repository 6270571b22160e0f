import { X } from "lucide-react";
import { type KeyboardEvent, useId, useRef, useState } from "react";
import { useList } from "../app/live";
import { t } from "../words/t";
import { Field } from "./Field";
import { MOST_TAGS, parseTags, sortedTags, suggestTags } from "./tags";
import { listed } from "./words";

/** Tags as chips, with those that other targets have offered while one is typed. */
export function TagInput({
  label,
  chosen,
  error,
  hint,
  onChange,
}: {
  label: string;
  chosen: readonly string[];
  error?: string | undefined;
  hint?: string;
  onChange: (tags: string[]) => void;
}) {
  const { tags: known } = useList();
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  const [typed, setTyped] = useState("");
  const [open, setOpen] = useState(false);
  const [at, setAt] = useState(-1); // none: Enter takes what was typed
  const [bad, setBad] = useState("");
  const found = open ? suggestTags(typed, known, chosen) : [];

  const add = (text: string) => {
    const parsed = parseTags(text);
    if (parsed.bad.length > 0)
      return setBad(
        t("{tags}: a tag is 1 to 40 of a-z, 0-9 and -_.:/, beginning with a letter or digit.", {
          tags: listed(parsed.bad),
        }),
      );
    const next = sortedTags([...chosen, ...parsed.tags]);
    if (next.length > MOST_TAGS) return setBad(t("At most {n, plural, one {# tag} other {# tags}}.", { n: MOST_TAGS }));
    setBad("");
    setOpen(false);
    setTyped("");
    setAt(-1);
    if (parsed.tags.length > 0) onChange(next);
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (!open) return setOpen(true);
      const step = event.key === "ArrowDown" ? 1 : -1;
      setAt((i) => (i + step + found.length) % Math.max(1, found.length));
    } else if (event.key === "Enter" && (typed.trim() !== "" || at >= 0)) {
      event.preventDefault(); // the form is sent by the next one
      add(found[at] ?? typed);
    } else if (event.key === "," || (event.key === " " && typed.trim() !== "")) {
      event.preventDefault();
      add(typed);
    } else if (event.key === "Backspace" && typed === "" && chosen.length > 0) {
      onChange(chosen.slice(0, -1));
    } else if (event.key === "Escape" && open && found.length > 0) {
      event.preventDefault(); // the list closes, not the dialog around it
      event.stopPropagation();
      setOpen(false);
    }
  };
  return (
    <Field label={label} error={bad || error} hint={hint}>
      {(bound) => (
        <div className="picker">
          <div className="tag-input">
            {chosen.map((tag) => (
              <span key={tag} className="tag-chip">
                {tag}
                <button
                  type="button"
                  aria-label={t("Remove {name}", { name: tag })}
                  onClick={() => {
                    onChange(chosen.filter((one) => one !== tag));
                    input.current?.focus();
                  }}
                >
                  <X size={13} aria-hidden />
                </button>
              </span>
            ))}
            <input
              {...bound}
              ref={input}
              role="combobox"
              autoComplete="off"
              autoCapitalize="off"
              spellCheck={false}
              aria-expanded={found.length > 0}
              aria-controls={`${id}-list`}
              aria-autocomplete="list"
              aria-activedescendant={found[at] ? `${id}-${at}` : undefined}
              placeholder={chosen.length === 0 ? "prod, team:db" : ""}
              value={typed}
              onClick={() => setOpen(true)}
              onChange={(event) => {
                setTyped(event.target.value);
                setOpen(true);
                setAt(-1);
              }}
              onKeyDown={onKey}
              onBlur={() => {
                setOpen(false);
                add(typed); // what was left in the field is meant, too
              }}
            />
          </div>
          <div
            id={`${id}-list`}
            className="picker-list over"
            role="listbox"
            aria-label={t("{label} of other targets", { label })}
            hidden={found.length === 0}
          >
            {found.map((tag, i) => (
              // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are the field's
              <div
                key={tag}
                id={`${id}-${i}`}
                role="option"
                aria-selected={i === at}
                tabIndex={-1}
                onMouseDown={(event) => event.preventDefault() /* the field keeps the focus */}
                onClick={() => add(tag)}
              >
                <span>{tag}</span>
                <span className="muted">
                  {t("{n, plural, one {# target} other {# targets}}", { n: known.get(tag) ?? 0 })}
                </span>
              </div>
            ))}
          </div>
        </div>
      )}
    </Field>
  );
}
