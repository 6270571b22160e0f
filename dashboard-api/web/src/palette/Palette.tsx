import { useNavigate } from "@tanstack/react-router";
import { CornerDownLeft, Search } from "lucide-react";
import { type KeyboardEvent, useEffect, useId, useMemo, useRef, useState } from "react";
import { useList, useLive } from "../app/live";
import { useTheme, useZone } from "../app/preferences";
import { useMayEdit, useSession } from "../app/useSelf";
import { StateIcon } from "../ui/StateIcon";
import { Tags } from "../ui/Tags";
import { shortUrl, stateWords } from "../ui/words";
import { t } from "../words/t";
import { type Entry, find } from "./find";
import "../styles/palette.css";

const kindWords: Record<Entry["kind"], string> = { action: t("Action"), page: t("Page"), target: t("Target") };

/** Everything by name: targets, pages, actions. */
export default function Palette({ onHelp, onClose }: { onHelp: () => void; onClose: () => void }) {
  const { store } = useLive();
  const { version } = useList();
  const [typed, setTyped] = useState("");
  const [at, setAt] = useState(0);
  const dialog = useRef<HTMLDialogElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const fixed = useFixed(onHelp);
  const navigate = useNavigate();
  const id = useId();
  useEffect(() => {
    const shown = dialog.current;
    shown?.showModal();
    return () => shown?.close();
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the store changes with its version
  const found = useMemo(
    () =>
      find(
        typed,
        fixed,
        typed.trim() ? store.all() : [],
        (target) => void navigate({ to: "/targets/$id", params: { id: String(target) } }),
      ),
    [typed, fixed, store, version, navigate],
  );
  const marked = Math.min(at, found.length - 1);
  // biome-ignore lint/correctness/useExhaustiveDependencies: follows the marked line
  useEffect(() => {
    list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }, [marked]);

  const take = (entry: Entry | undefined) => {
    if (!entry) return;
    onClose();
    entry.run();
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      const step = event.key === "ArrowDown" ? 1 : -1;
      setAt((marked + step + found.length) % Math.max(1, found.length));
    } else if (event.key === "Enter") {
      event.preventDefault();
      take(found[marked]);
    }
  };
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes it, too
    <dialog
      ref={dialog}
      className="palette"
      aria-label={t("Find a target, a page or an action")}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => event.target === dialog.current && onClose()}
    >
      <div className="palette-input">
        <Search size={18} aria-hidden />
        <input
          role="combobox"
          aria-label={t("Find")}
          aria-expanded
          aria-controls={`${id}-list`}
          aria-activedescendant={found[marked] ? `${id}-${marked}` : undefined}
          aria-autocomplete={"list"}
          autoComplete="off"
          spellCheck={false}
          autoFocus
          placeholder={t("Find a target, a page or an action")}
          value={typed}
          onChange={(event) => {
            setTyped(event.target.value);
            setAt(0);
          }}
          onKeyDown={onKey}
        />
      </div>
      <div ref={list} id={`${id}-list`} role="listbox" aria-label={t("Found")} className="palette-list" tabIndex={-1}>
        {found.map((entry, i) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are the field's
          <div
            key={entry.key}
            id={`${id}-${i}`}
            role="option"
            aria-selected={i === marked}
            tabIndex={-1}
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => take(entry)}
          >
            {entry.state ? <StateIcon state={entry.state} size={17} /> : <CornerDownLeft size={16} aria-hidden />}
            <span className="cut">
              {entry.name}
              {entry.state && <span className="sr">, {stateWords[entry.state]}</span>}
            </span>
            <span className="muted cut">
              {entry.tags && <Tags of={entry.tags} />}{" "}
              {entry.kind === "target" ? <bdi dir="ltr">{shortUrl(entry.hint)}</bdi> : entry.hint}
            </span>
            <span className="muted palette-kind">{kindWords[entry.kind]}</span>
          </div>
        ))}
        {found.length === 0 && (
          <div className="muted" role="option" aria-selected={false} aria-disabled tabIndex={-1}>
            {t("Nothing has that name")}
          </div>
        )}
      </div>
    </dialog>
  );
}

function useFixed(onHelp: () => void): Entry[] {
  const navigate = useNavigate();
  const [theme, setTheme] = useTheme();
  const [zone, setZone] = useZone();
  const mayEdit = useMayEdit();
  const owner = useSession()?.role === "owner";
  const { tags } = useList();
  return useMemo(() => {
    const page = (name: string, hint: string, run: () => void): Entry => ({ key: name, kind: "page", name, hint, run });
    const action = (name: string, hint: string, run: () => void): Entry => ({
      key: name,
      kind: "action",
      name,
      hint,
      run,
    });
    const pages = [
      page(t("Overview"), "g o", () => void navigate({ to: "/" })),
      page(t("Incidents"), "g i", () => void navigate({ to: "/incidents" })),
      page(t("Open incidents"), "", () => void navigate({ to: "/incidents", search: { state: "open" } })),
      page(t("Targets that are down"), "", () => void navigate({ to: "/", search: { state: "down" } })),
      page(t("Maintenance"), "g m", () => void navigate({ to: "/maintenance" })),
      page(t("Reports"), "g r", () => void navigate({ to: "/reports" })),
      page(t("Fleet"), "g f", () => void navigate({ to: "/fleet" })),
      page(t("Settings"), "g s", () => void navigate({ to: "/settings" })),
      page(t("Channels"), t("where messages go"), () => void navigate({ to: "/settings/channels" })),
      page(t("Notification rules"), t("who is told"), () => void navigate({ to: "/settings/rules" })),
      page(t("Your account"), t("password, second factor, sessions"), () => void navigate({ to: "/settings/account" })),
      page(t("API keys"), t("for programs"), () => void navigate({ to: "/settings/keys" })),
      ...(owner
        ? [
            page(t("People"), t("users and invitations"), () => void navigate({ to: "/settings/people" })),
            page(t("Audit log"), t("who changed what"), () => void navigate({ to: "/settings/audit" })),
          ]
        : []),
      page(t("Import and export"), "", () => void navigate({ to: "/settings/transfer" })),
      page(t("Status pages"), "g p", () => void navigate({ to: "/settings/pages" })),
    ];
    const dark = theme === "dark";
    const utc = zone === "utc";
    const actions = [
      action(dark ? t("Light theme") : t("Dark theme"), "", () => setTheme(dark ? "light" : "dark")),
      action(utc ? t("Times of the browser") : t("Times in UTC"), "", () => setZone(utc ? "local" : "utc")),
      action(t("Keyboard shortcuts"), "?", onHelp),
    ];
    const tagged = [...tags].map(([tag, n]) =>
      page(
        t("Tagged {tag}", { tag }),
        t("{n, plural, one {# target} other {# targets}}", { n }),
        () => void navigate({ to: "/", search: { tag } }),
      ),
    );
    const add = action(t("Add target"), "c", () => void navigate({ to: "/", search: { add: "1" } }));
    return [...(mayEdit ? [add] : []), ...pages, ...actions, ...tagged];
  }, [navigate, theme, setTheme, zone, setZone, mayEdit, owner, tags, onHelp]);
}
