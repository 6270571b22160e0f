import { Link } from "@tanstack/react-router";
import { ArrowRight, CircleAlert } from "lucide-react";
import { type FormEvent, useState } from "react";
import type { Target } from "../api/types";
import { useFilled, useLive, useLiveRunning, useTargetView } from "../app/live";
import { useChangesSaid } from "../app/Presence";
import { addLines } from "../targetform/adding";
import { type Judged, judge, linesOf, MOST_LINES, only, taken } from "../targetform/lines";
import { Field } from "../ui/Field";
import { StateIcon } from "../ui/StateIcon";
import { Ticks } from "../ui/Ticks";
import { whyWords } from "../ui/why";
import { latency, listed, stateWords } from "../ui/words";
import { Rich } from "../words/Rich";
import { t } from "../words/t";
import { AccountPage } from "./AccountPage";

const FIRST_INTERVAL_S = 30; // so that the first results are soon there

type Refused = Pick<Judged, "no" | "text" | "why">;

/** Paste one address or many, and see their results arrive. */
export function FirstTargets() {
  useLiveRunning();
  useChangesSaid();
  const { store } = useLive();
  const [text, setText] = useState("");
  const [added, setAdded] = useState<Target[]>([]);
  const [refused, setRefused] = useState<Refused[]>([]);
  const [empty, setEmpty] = useState(false);
  const [busy, setBusy] = useState(false);

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const lines = judge(linesOf(text).slice(0, MOST_LINES), taken(added));
    setEmpty(lines.length === 0);
    if (lines.length === 0) return;
    setBusy(true);
    const failed: Refused[] = lines.filter((line) => line.is === "bad");
    await addLines(
      lines.filter((line) => line.is === "good"),
      { interval_s: FIRST_INTERVAL_S },
      (_, target) => {
        store.applySaved(target);
        setAdded((all) => [...all, target]);
      },
      (line, why) => failed.push({ ...line, why }),
    );
    failed.sort((a, b) => a.no - b.no);
    setRefused(failed);
    // What is beyond the bound stays, for the next time.
    const rest = linesOf(text).slice(MOST_LINES);
    setText(only(text, new Set([...failed, ...rest].map((line) => line.no))));
    setBusy(false);
  };

  return (
    <AccountPage
      title={t("What should be watched?")}
      intro={t(
        "Step 2 of 2. Each address is checked every {n, plural, one {# second} other {# seconds}} from every region; you can change that later.",
        { n: FIRST_INTERVAL_S },
      )}
    >
      <form className="account-form" onSubmit={(event) => void submit(event)} noValidate>
        <Field
          label={t("URLs")}
          hint={t("One or many, one per line.")}
          error={
            empty
              ? t("Paste at least one address.")
              : refused.length > 0
                ? t("{n, plural, one {# address not added.} other {# addresses not added.}}", { n: refused.length })
                : undefined
          }
        >
          {(bound) => (
            <textarea
              {...bound}
              className="input mono"
              name="urls"
              rows={4}
              spellCheck={false}
              placeholder={"https://example.com\nhttps://api.example.com/health"}
              value={text}
              onChange={(event) => setText(event.target.value)}
            />
          )}
        </Field>
        {refused.length > 0 && (
          <ul className="refused">
            {refused.map(({ no, text, why }) => (
              <li key={no}>
                <CircleAlert size={15} aria-hidden /> <span className="mono">{text}</span> {why}
              </li>
            ))}
          </ul>
        )}
        <button type="submit" className={added.length > 0 ? "btn" : "btn primary"} disabled={busy}>
          {busy ? t("Adding") : t("Start watching")}
        </button>
        <p className="muted">
          <Rich
            text="Or <a>import a file</a>: CSV, or an export of another Probefleet."
            a={(inner) => (
              <Link to="/settings/transfer" className="link">
                {inner}
              </Link>
            )}
          />
        </p>
      </form>
      {added.length > 0 && (
        <>
          <ul className="first-list" aria-label={t("Added")}>
            {added.map((target) => (
              <FirstCard key={target.id} id={target.id} />
            ))}
          </ul>
          <Link to="/" className="btn primary">
            {t("Go to the overview")} <ArrowRight size={16} aria-hidden />
          </Link>
        </>
      )}
    </AccountPage>
  );
}

function FirstCard({ id }: { id: number }) {
  const target = useTargetView(id);
  useFilled([id]);
  if (!target) return null;
  const waiting = target.slots.length === 0;
  const times = listed(target.region_states.map((r) => `${r.region} ${latency(r.total_us)}`));
  return (
    <li data-first={id}>
      <StateIcon state={target.state} size={20} />
      <div className="first-what">
        <b className="cut">{target.name}</b>
        {waiting ? (
          <p className="muted">{t("Waiting for the first check")}</p>
        ) : (
          <>
            <p className="muted">
              <span className={`word s-${target.state}`}>{stateWords[target.state]}</span>
              {times && ` · ${times}`}
            </p>
            {target.state !== "up" && target.why && <p className="first-why">{whyWords(target.why, target.because)}</p>}
          </>
        )}
      </div>
      <div className="bar">
        <Ticks slots={target.slots} maintained={target.maintained} />
      </div>
    </li>
  );
}
