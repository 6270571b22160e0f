import { type FormEvent, type ReactNode, useDeferredValue, useEffect, useMemo, useRef, useState } from "react";
import { api } from "../api/endpoints";
import type { Target } from "../api/types";
import { useLive } from "../app/live";
import { useToast } from "../app/toasts";
import { useSaid } from "../app/useSaid";
import { inTurn } from "../overview/selection";
import { AskFirst } from "../ui/AskFirst";
import { CloseButton } from "../ui/Dialog";
import { Field } from "../ui/Field";
import { firstProblem, focusAfter } from "../ui/focusAfter";
import { TagInput } from "../ui/TagInput";
import { t } from "../words/t";
import { addLines } from "./adding";
import { type Draft, type Errors, toBody } from "./form";
import { LineList, type Standing } from "./LineList";
import { type Judged, judge, linesOf, MOST_LINES, only, taken } from "./lines";
import type { Place } from "./place";
import { IntervalField, Regions } from "./TargetFields";
import "../styles/paste.css";

type Outcome = Omit<Judged, "is"> & { is: Standing };

/** Many addresses at once, a line each. Every line is judged before any is sent; what was refused stays to be mended. */
export default function PasteMany({
  choice,
  draft,
  place,
  regions,
  entered,
  onDraft,
  onPlace,
  onClose,
}: {
  /** Leads back to one address. */
  choice: ReactNode;
  /** What all get, of which the form of one address knows, too. */
  draft: Draft;
  place: Place;
  regions: readonly string[];
  /** Something else was entered in the form. */
  entered: boolean;
  onDraft: (change: Partial<Draft>) => void;
  onPlace: (change: Partial<Place>) => void;
  onClose: () => void;
}) {
  const { store } = useLive();
  const form = useRef<HTMLFormElement>(null);
  const stopper = useRef<HTMLButtonElement>(null);
  const summary = useRef<HTMLParagraphElement>(null);
  const [text, setText] = useState("");
  const [errors, setErrors] = useState<Errors & { lines?: string }>({});
  const [outcome, setOutcome] = useState<Outcome[] | null>(null);
  const [busy, setBusy] = useState(false);
  const [refused, setRefused] = useState<ReadonlyMap<string, string>>(new Map());
  const { begin, added, stop, end, stopped } = useAdded();

  const read = useDeferredValue(text);
  // biome-ignore lint/correctness/useExhaustiveDependencies: what was added is watched from then on
  const there = useMemo(() => taken(store.all()), [store, outcome]);
  const lines = useMemo(() => linesOf(read), [read]);
  const judged = useMemo(() => (lines.length > MOST_LINES ? [] : judge(lines, there)), [lines, there]);
  const good = judged.filter((line) => line.is === "good");
  const tooMany = lines.length > MOST_LINES;
  const tooManyWords = t("At most {n, number} lines at once: there are {there, number}.", {
    n: MOST_LINES,
    there: lines.length,
  });

  const refuse = (found: Errors & { lines?: string }) =>
    focusAfter(
      () => setErrors(found),
      () => firstProblem(form.current),
    );
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (busy) return;
    const now = linesOf(text);
    if (now.length > MOST_LINES) return refuse({ lines: tooManyWords });
    if (now.length === 0) return refuse({ lines: t("Paste at least one address.") });
    const all = judge(now, there);
    const sent = all.filter((line) => line.is === "good");
    if (sent.length === 0) return refuse({ lines: t("No line can be added as it is.") });
    const parsed = toBody({ ...draft, url: "https://", name: "", timeout: "", status: "" }, null);
    const seconds = Number(draft.interval);
    if (!parsed.ok || seconds < 10 || seconds > 86_400)
      return refuse({ interval: t("Enter 10 to 86400 whole seconds.") });
    setErrors({});
    setBusy(true);
    begin(all.filter((line) => line.is !== "skip").length);
    const went = new Map<number, Outcome>(
      all.map((line) => [line.no, line.is === "good" ? { ...line, is: "waits" } : line]),
    );
    const tell = (line: Judged, is: Standing, why = "") => {
      went.set(line.no, { ...line, is, why });
      setOutcome([...went.values()]);
    };
    focusAfter(
      () => setOutcome([...went.values()]),
      () => stopper.current,
    );
    const settings = { ...parsed.body, ...(place.tags.length > 0 && { tags: place.tags }) };
    await addLines(
      sent,
      settings,
      (line, target) => {
        store.applySaved(target);
        added(target);
        tell(line, "added");
      },
      (line, why) => tell(line, "bad", why),
      stopped,
    );
    const left = [...went.values()].filter((line) => line.is === "bad" || line.is === "waits");
    setRefused(new Map(left.filter((line) => line.why).map((line) => [line.text, line.why])));
    setBusy(false);
    end();
    if (left.length === 0) return onClose();
    summary.current?.focus();
  };
  const mend = () => {
    focusAfter(
      () => {
        setText((old) => only(old, new Set(left.map((line) => line.no))));
        setOutcome(null);
      },
      () => form.current?.querySelector("textarea"),
    );
  };

  const count = (is: Standing) => (outcome ?? judged).filter((line) => line.is === is).length;
  const left = (outcome ?? []).filter((line) => line.is === "bad" || line.is === "waits");
  const said = outcome
    ? t("Added: {added, number}. To be mended: {left, number}. Left out: {skip, number}.", {
        added: count("added"),
        left: left.length,
        skip: count("skip"),
      })
    : t("Can be added: {good, number}. Wrong: {bad, number}. Left out: {skip, number}.", {
        good: good.length,
        bad: count("bad"),
        skip: count("skip"),
      });
  useSaid((outcome ?? judged).length > 0 ? said : "");
  const open = outcome === null ? entered || text.trim() !== "" : left.length > 0;
  return (
    <form ref={form} onSubmit={(event) => void submit(event)} noValidate>
      {busy ? (
        <AskFirst key="busy" title={t("Stop adding?")} act={t("Stop and close")} keep={t("Go on")}>
          {t("Added so far, and staying: {added, number}. Not added: {left, number}.", {
            added: count("added"),
            left: left.length,
          })}
        </AskFirst>
      ) : (
        <AskFirst key="open" when={open} />
      )}
      <div className="dialog-body">
        {!outcome && (
          <>
            {choice}
            <Field
              label={t("Addresses, a line each")}
              error={errors.lines ?? (tooMany ? tooManyWords : undefined)}
              hint={t(
                "A name can follow after a comma or a tab, and cells of a spreadsheet can be pasted. At most {n, number} lines.",
                { n: MOST_LINES },
              )}
            >
              {(bound) => (
                <textarea
                  {...bound}
                  className="input mono"
                  name="lines"
                  rows={6}
                  spellCheck={false}
                  autoCapitalize="off"
                  // biome-ignore lint/a11y/noAutofocus: this was just chosen
                  autoFocus
                  placeholder={"https://example.com\nhttps://api.example.com/health, API"}
                  value={text}
                  onChange={(event) => {
                    setText(event.target.value);
                    setErrors(({ lines: _, ...others }) => others);
                  }}
                />
              )}
            </Field>
          </>
        )}
        {(outcome ?? judged).length > 0 && (
          <div className="paste-outcome">
            <p ref={summary} tabIndex={-1}>
              {said}
            </p>
            {busy && outcome && (
              <progress max={outcome.length} value={outcome.length - count("waits")} aria-label={t("Adding")} />
            )}
            <LineList
              lines={outcome ?? judged.map((line) => ({ ...line, why: line.why || (refused.get(line.text) ?? "") }))}
            />
          </div>
        )}
        {!outcome && (
          <>
            <IntervalField
              value={draft.interval}
              error={errors.interval}
              onChange={(interval) => onDraft({ interval })}
            />
            <Regions
              known={regions}
              chosen={draft.regions}
              error={undefined}
              onChange={(chosen) => onDraft({ regions: chosen })}
            />
            <TagInput
              label={t("Tags")}
              chosen={place.tags}
              hint={t("All of them get these.")}
              onChange={(tags) => onPlace({ tags })}
            />
          </>
        )}
      </div>
      <div className="dialog-foot">
        {busy ? (
          <button ref={stopper} type="button" className="btn" onClick={stop}>
            {t("Stop")}
          </button>
        ) : (
          <>
            <CloseButton>{t(outcome ? "Close" : "Cancel")}</CloseButton>
            {/* Two buttons: one that became the other would send the form with the same key. */}
            {outcome ? (
              <button key="mend" type="button" className="btn primary" onClick={mend}>
                {t("Mend what is left")}
              </button>
            ) : (
              <button key="send" type="submit" className="btn primary">
                {t("Start watching")}
              </button>
            )}
          </>
        )}
      </div>
    </form>
  );
}

/** What was added here. It is told, with its way back, once this is gone: messages are behind a dialog. */
function useAdded() {
  const { store } = useLive();
  const toast = useToast();
  const state = useRef({ added: [] as Target[], left: 0, busy: false, stopped: false, closed: false });
  const remove = async (targets: readonly Target[]) => {
    const act = async (target: Target) => {
      await api.deleteTarget(target.id);
      store.applyOps([{ op: "remove", id: target.id }]);
    };
    const { done, failed } = await inTurn(
      targets,
      act,
      () => {},
      () => false,
    );
    const n = failed.length;
    if (n > 0)
      toast({ bad: true, text: t("{n, plural, one {# target not deleted.} other {# targets not deleted.}}", { n }) });
    if (done.length > 0)
      toast({ text: t("{n, plural, one {# target deleted.} other {# targets deleted.}}", { n: done.length }) });
  };
  const tell = () => {
    const { left } = state.current;
    const targets = state.current.added.splice(0);
    const n = targets.length;
    if (n + left === 0) return;
    toast({
      text:
        left > 0
          ? t("Added: {n, number}. Not added: {left, number}.", { n, left })
          : t("{n, plural, one {# target added.} other {# targets added.}}", { n }),
      ...(n > 0 && { action: { label: t("Undo"), run: () => void remove(targets) } }),
    });
  };
  const latest = useRef(tell);
  latest.current = tell;
  useEffect(() => {
    const now = state.current;
    now.closed = false;
    return () => {
      now.closed = true;
      now.stopped = true;
      if (!now.busy) latest.current();
    };
  }, []);
  return {
    /** With how many lines are to be added. */
    begin: (left: number) => Object.assign(state.current, { left, busy: true, stopped: false }),
    added: (target: Target) => {
      state.current.added.push(target);
      state.current.left--;
    },
    stopped: () => state.current.stopped,
    stop: () => {
      state.current.stopped = true;
    },
    /** Whoever closed this meanwhile hears of it now. */
    end: () => {
      state.current.busy = false;
      if (state.current.closed) tell();
    },
  };
}
