import { X } from "lucide-react";
import { useEffect, useId, useRef } from "react";
import { type Check, type CheckResult, hasEnded } from "../api/checks";
import type { Target } from "../api/types";
import { outcome } from "../app/tested";
import { useSaid } from "../app/useSaid";
import { Waterfall } from "../target/Waterfall";
import { briefly } from "../ui/problems";
import { StateIcon } from "../ui/StateIcon";
import { explain, latency, listed, stateOfStatus, statusWords, tellingStatus } from "../ui/words";
import { t } from "../words/t";
import type { FormTest } from "./useFormTest";
import { regionsOf, sendsStored } from "./visit";
import "../styles/test.css";

const MANY = 3; // regions of which only those with trouble are open by themselves

/** What the last test of the form saw: by region, as it comes in. Nothing that stays moves when it does. */
export default function TestPanel({
  test,
  target,
  changed,
}: {
  test: FormTest;
  target: Target | null;
  /** The form is no longer what was tested. */
  changed: boolean;
}) {
  const id = useId();
  const panel = useRef<HTMLElement>(null);
  const { check, body } = test;
  const regions = check ? regionsOf(check) : [];
  const ended = check !== null && hasEnded(check);
  const sum = summary(check, ended);
  useSaid(sum);
  // biome-ignore lint/correctness/useExhaustiveDependencies: into view when it begins, and when it is known where from
  useEffect(() => {
    panel.current?.scrollIntoView({ block: "nearest" });
  }, [body, regions.length]);
  return (
    <section ref={panel} className="test-panel" aria-labelledby={id} data-test={ended ? "ended" : "running"}>
      <h3 id={id}>{t("Test")}</h3>
      {changed && <p className="hint">{t("The form has changed since this test.")}</p>}
      <p className="hint">
        {t("This tests the form as it stands. Nothing is saved, and nothing enters the history.")}{" "}
        {sendsStored(target, body) && t("The secrets stored for this target are sent along, as its checks do.")}
      </p>
      {check && regions.length > 0 && (
        <ul className="test-regions">
          {regions.map(([region, result]) => (
            <li key={region}>
              {result ? (
                <Seen result={result} kind={check.kind} open={regions.length <= MANY || result.status !== "up"} />
              ) : (
                <>
                  <p className="test-region muted">
                    <StateIcon state="no_data" size={16} />
                    <b>{region}</b>
                    <span>{waitingWord(check)}</span>
                  </p>
                  {!ended && (
                    <div aria-hidden className="skeleton test-skeleton" style={{ height: placeOf(test.rows.length) }} />
                  )}
                </>
              )}
            </li>
          ))}
        </ul>
      )}
      <p>{sum}</p>
      {test.trouble ? (
        <p className="problem">{t("The outcome cannot be read: {why}", { why: briefly(test.trouble) })}</p>
      ) : null}
      {ended && check.error && check.results.length > 0 && <p className="problem">{check.error}</p>}
    </section>
  );
}

/** As high as the phases to come, and what may not hold. */
const placeOf = (assertions: number) => `calc(${6 + assertions} * 1lh + 25px)`;

function summary(check: Check | null, ended: boolean): string {
  if (ended && check) return t("Tested: {outcome}.", { outcome: outcome(check).replace(/\.$/, "") });
  const missing = check ? regionsOf(check).filter(([, result]) => result === null) : [];
  if (missing.length === 0) return t("Testing");
  return t("Waiting for {regions}.", { regions: listed(missing.map(([region]) => region)) });
}

function waitingWord({ state }: Check): string {
  switch (state) {
    case "QUEUED":
      return t("Waiting");
    case "FAILED_RETRYABLE":
      return t("No answer: it is tried again");
    case "IN_PROGRESS":
      return t("Testing");
    default:
      return t("No answer");
  }
}

function Seen({ result, kind, open }: { result: CheckResult; kind: string; open: boolean }) {
  const why = explain(result.failure, result.reason, tellingStatus(kind, result.http_status));
  const failed = result.failed ?? [];
  return (
    <details open={open} data-region={result.region} data-status={result.status}>
      <summary className="test-region">
        <StateIcon state={stateOfStatus(result.status)} size={16} />
        <b>{result.region}</b>
        <span>{statusWords[result.status]}</span>
        {result.total_us > 0 && <span className="num">{latency(result.total_us)}</span>}
      </summary>
      {failed.length === 0 && (why || result.message) && (
        <p className="evidence">
          {why && <b>{t("{why}.", { why })} </b>}
          {result.message}
        </p>
      )}
      {failed.length > 0 && (
        <ul className="test-failed">
          {failed.map((one) => (
            <li key={one.index}>
              <X size={15} aria-hidden />
              <span>{t("Assertion {n}: {what}", { n: one.index + 1, what: one.message })}</span>
            </li>
          ))}
        </ul>
      )}
      {result.total_us > 0 && <Waterfall label={t("Phases")} times={result} totalUs={result.total_us} cached={false} />}
    </details>
  );
}
