import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { CircleAlert, Equal, PencilLine, Plus } from "lucide-react";
import { useState } from "react";
import { hasEnded } from "../api/checks";
import { api } from "../api/endpoints";
import type { ImportLine, Outcome } from "../api/transfer";
import { outcome } from "../app/tested";
import "../styles/statuspages.css";
import { CheckLine } from "../ui/CheckLine";
import { sentence } from "../ui/problems";
import { t } from "../words/t";
import { changeWords } from "./transfer";

const LOOK_EVERY_MS = 1_000;
const SHOWN = 100; // more only when asked for: a page of ten thousand rows is slow

const looks: Record<Outcome, [Icon: typeof Plus, done: string, would: string, tone: string]> = {
  created: [Plus, t("Created"), t("Would be created"), "s-up"],
  changed: [PencilLine, t("Changed"), t("Would change"), "s-degraded"],
  unchanged: [Equal, t("Unchanged"), t("Unchanged"), "muted"],
  refused: [CircleAlert, t("Refused"), t("Refused"), "s-down"],
};

/** What becomes of each line of a file. */
export function ImportLines({ lines, dry }: { lines: readonly ImportLine[]; dry: boolean }) {
  const [refused, setRefused] = useState(false);
  const [most, setMost] = useState(SHOWN);
  const sorted = lines.toSorted((a, b) => a.line - b.line); // what others depend on is made first
  const kept = refused ? sorted.filter((line) => line.outcome === "refused") : sorted;
  const mistakes = lines.some((line) => line.outcome === "refused");
  return (
    <>
      {(mistakes || refused) && (
        <div className="pad">
          <CheckLine checked={refused} onChange={setRefused}>
            {t("Only what is refused")}
          </CheckLine>
        </div>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
      <section className="scroll-x" tabIndex={0} aria-label={t("Lines of the file")}>
        <table className="import-lines">
          <thead>
            <tr>
              <th scope="col" className="num">
                {t("Line")}
              </th>
              <th scope="col">{t("Target")}</th>
              <th scope="col">{t("Outcome")}</th>
              <th scope="col">{t("In detail")}</th>
            </tr>
          </thead>
          <tbody>
            {kept.slice(0, most).map((line) => (
              <Row key={line.line} line={line} dry={dry} />
            ))}
          </tbody>
        </table>
      </section>
      {kept.length > most && (
        <div className="pad">
          <button type="button" className="btn" onClick={() => setMost(most * 10)}>
            {t("Show more of {n, number} lines", { n: kept.length })}
          </button>
        </div>
      )}
    </>
  );
}

function Row({ line, dry }: { line: ImportLine; dry: boolean }) {
  const [Icon, done, would, tone] = looks[line.outcome];
  return (
    <tr data-outcome={line.outcome}>
      <td className="num">{line.line}</td>
      <td className="import-target">
        {line.id ? (
          <Link to="/targets/$id" params={{ id: String(line.id) }} className="link">
            {line.name}
          </Link>
        ) : (
          <b>{line.name}</b>
        )}
        <span className="muted mono">{line.url}</span>
      </td>
      <td className="import-outcome">
        <Icon size={15} aria-hidden className={tone} /> {dry ? would : done}
      </td>
      <td>
        <ul className="import-detail">
          {line.changes?.map((change) => (
            <li key={change.pointer}>{changeWords(change)}</li>
          ))}
          {line.problem &&
            (line.problem.errors ?? [{ pointer: "", message: line.problem.detail ?? line.problem.title }]).map(
              (one) => (
                <li key={`${one.pointer} ${one.message}`}>
                  {one.pointer && <code>{one.pointer}</code>} {sentence(one.message)}
                </li>
              ),
            )}
          {line.preview_check_id && <Preview of={line.preview_check_id} />}
        </ul>
      </td>
    </tr>
  );
}

/** What a first look at a target found. */
function Preview({ of }: { of: string }) {
  const { data: check, error } = useQuery({
    queryKey: ["check", of],
    queryFn: () => api.getCheck(of),
    refetchInterval: ({ state }) => (state.error || (state.data && hasEnded(state.data)) ? false : LOOK_EVERY_MS),
  });
  if (error && !check) return null; // its next slot comes soon enough
  return (
    <li>
      {check && hasEnded(check)
        ? t("Tested: {outcome}.", { outcome: outcome(check).replace(/\.$/, "") })
        : t("Testing")}
    </li>
  );
}
