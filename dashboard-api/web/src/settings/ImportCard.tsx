import { CircleCheck, TriangleAlert } from "lucide-react";
import { type FormEvent, useEffect, useRef, useState } from "react";
import { type ImportEnd, type ImportLine, importTargets } from "../api/transfer";
import { useAnnounce } from "../app/announcer";
import { Field } from "../ui/Field";
import { FormProblem } from "../ui/FormProblem";
import { briefly, sentence } from "../ui/problems";
import { Unsaved } from "../ui/Unsaved";
import { t } from "../words/t";
import { ImportLines } from "./ImportLines";

/** What was answered, so far. */
interface Answer {
  lines: ImportLine[];
  end: ImportEnd | null;
}

const COLUMNS = "url, name, interval_s, tags, regions";
const DRAW_EVERY_MS = 150; // a file may have thousands of lines, and each comes by itself

/** A file is chosen or pasted, judged, and then imported: nothing is written before it was judged. */
export function ImportCard() {
  const [text, setText] = useState("");
  const [found, setFound] = useState<Answer | null>(null);
  const [done, setDone] = useState<Answer | null>(null);
  const [busy, setBusy] = useState<"" | "judging" | "importing">("");
  const [problem, setProblem] = useState("");
  const running = useRef<AbortController | null>(null);
  const announce = useAnnounce();
  useEffect(() => () => running.current?.abort(), []);

  const change = (next: string) => {
    setText(next);
    setFound(null);
    setDone(null);
    setProblem("");
  };

  /** Sends the file, and shows the lines of the answer as they come. */
  const send = async (dryRun: boolean, show: (answer: Answer) => void): Promise<ImportEnd | null> => {
    const control = new AbortController();
    running.current = control;
    const lines: ImportLine[] = [];
    let drawn = 0;
    setProblem("");
    setBusy(dryRun ? "judging" : "importing");
    try {
      const end = await importTargets(
        text,
        dryRun,
        (line) => {
          lines.push(line);
          if (dryRun || performance.now() - drawn < DRAW_EVERY_MS) return;
          drawn = performance.now();
          show({ lines: [...lines], end: null });
        },
        control.signal,
      );
      show({ lines, end });
      if (end.stopped)
        setProblem(t("Stopped before the end: {why}", { why: sentence(end.stopped.detail ?? end.stopped.title) }));
      return end;
    } catch (error) {
      if (lines.length > 0) show({ lines: [...lines], end: null });
      if (control.signal.aborted) setProblem(t("Stopped. What is done stays done; the same file goes on from there."));
      else if (error instanceof SyntaxError)
        setProblem(t("This is not JSON that can be read: {why}", { why: sentence(error.message) }));
      else setProblem(briefly(error));
      return null;
    } finally {
      setBusy("");
    }
  };

  const judge = async (event: FormEvent) => {
    event.preventDefault();
    setDone(null);
    setFound(null);
    if (!text.trim()) return setProblem(t("Choose a file, or paste its content."));
    const end = await send(true, setFound);
    if (end) announce(summary(end));
  };
  const write = async () => {
    const end = await send(false, setDone);
    if (end) announce(summary(end));
  };

  const end = (done ?? found)?.end;
  const writes = found?.end ? found.end.created + found.end.changed : 0;
  return (
    <section className="card" aria-labelledby="import">
      <div className="card-head">
        <div>
          <h2 id="import">{t("Import")}</h2>
          <p className="muted">
            {t("Each line is about the target with its address, or makes one. You see what would change first.")}
          </p>
        </div>
      </div>
      <form className="pad stack" onSubmit={(event) => void judge(event)} noValidate>
        <Field
          label={t("File")}
          hint={t("An export, or CSV whose first line names columns such as {columns}.", { columns: COLUMNS })}
        >
          {(bound) => (
            <input
              {...bound}
              type="file"
              className="input"
              accept=".json,.csv,.txt,application/json,text/csv"
              disabled={busy !== ""}
              onChange={(event) => void event.target.files?.[0]?.text().then(change)}
            />
          )}
        </Field>
        <Field label={t("Or paste it")}>
          {(bound) => (
            <textarea
              {...bound}
              className="input mono"
              rows={6}
              spellCheck={false}
              disabled={busy !== ""}
              placeholder={"url,name,interval_s,tags,regions\nhttps://example.com/,Shop,60,prod,"}
              value={text}
              onChange={(event) => change(event.target.value)}
            />
          )}
        </Field>
        <FormProblem problems={{ "": problem }} />
        <div className="row">
          <button type="submit" className={writes > 0 && !done ? "btn" : "btn primary"} disabled={busy !== ""}>
            {busy === "judging" ? t("Judging") : t("See what would change")}
          </button>
          {found?.end && !done && writes > 0 && (
            <button type="button" className="btn primary" disabled={busy !== ""} onClick={() => void write()}>
              {t("{n, plural, one {Import # target} other {Import # targets}}", { n: writes })}
            </button>
          )}
        </div>
        {busy === "importing" && (
          <Progress
            n={done?.lines.length ?? 0}
            all={found?.lines.length ?? 0}
            onStop={() => running.current?.abort()}
          />
        )}
        {end && (
          <p className="row import-sum" data-import={done ? "done" : "judged"}>
            {end.refused > 0 || end.stopped ? (
              <TriangleAlert size={16} aria-hidden className="s-degraded" />
            ) : (
              <CircleCheck size={16} aria-hidden className="s-up" />
            )}
            {summary(end)}
          </p>
        )}
      </form>
      <Unsaved
        when={busy === "importing"}
        what={t("The import is still running, and would stop. What is done stays done.")}
      />
      {(done ?? found) && <ImportLines lines={(done ?? found)?.lines ?? []} dry={!done} />}
    </section>
  );
}

function Progress({ n, all, onStop }: { n: number; all: number; onStop: () => void }) {
  return (
    <div className="row import-progress">
      <b>{t("{n, number} of {all, number}", { n, all })}</b>
      <progress max={all} value={n} aria-label={t("Importing")} />
      <button type="button" className="btn" onClick={onStop}>
        {t("Stop")}
      </button>
    </div>
  );
}

/** The counts of a file in a sentence: what would be, or what is done. */
const summary = (end: ImportEnd): string =>
  end.dry_run
    ? t(
        "{created, number} would be created, {changed, number} changed, {unchanged, number} unchanged, {refused, number} refused.",
        {
          created: end.created,
          changed: end.changed,
          unchanged: end.unchanged,
          refused: end.refused,
        },
      )
    : t(
        "{created, number} created, {changed, number} changed, {unchanged, number} unchanged, {refused, number} refused.",
        {
          created: end.created,
          changed: end.changed,
          unchanged: end.unchanged,
          refused: end.refused,
        },
      );
