import { CircleCheck, TriangleAlert } from "lucide-react";
import type { Ledger, LedgerLine } from "../api/types";
import { StateIcon } from "../ui/StateIcon";
import { count, explain, statusWords } from "../ui/words";
import { t } from "../words/t";
import { type Figure, stated, total } from "./reasons";

const columns: [Figure, string][] = [
  ["planned", t("Planned")],
  ["up", t("Up")],
  ["degraded", t("Degraded")],
  ["down", t("Down")],
  ["unknown", t("Unknown")],
  ["missed", t("Missed")],
  ["in_flight", t("In flight")],
  ["spooled", t("Spooled")],
  ["unexplained", t("Unexplained")],
];

/** Planned = the sum of the outcomes, per region, and why some are no measurement. It balances only as far as it is the present. */
export function LedgerTable({ ledger, present }: { ledger: Ledger; present: boolean }) {
  const lines = ledger.items;
  if (lines.length === 0) return <p className="pad muted">{t("Nothing was planned in this period.")}</p>;
  const sum = total(lines);
  const { unexplained } = sum;
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
      <section className="scroll-x" tabIndex={0} aria-label={t("Ledger by region")}>
        <table>
          <thead>
            <tr>
              <th scope="col">{t("Region")}</th>
              {columns.map(([key, label]) => (
                <th key={key} scope="col" className="num">
                  {label}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {lines.map((line) => (
              <tr key={line.region}>
                <td>
                  <b>{line.region}</b>
                </td>
                {columns.map(([key]) => (
                  <td key={key} className={line[key] === 0 ? "num muted" : "num"}>
                    {count(line[key])}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
          {lines.length > 1 && (
            <tfoot>
              <tr>
                <th scope="row">{t("All regions")}</th>
                {columns.map(([key]) => (
                  <td key={key} className={sum[key] === 0 ? "num muted" : "num"}>
                    {count(sum[key])}
                  </td>
                ))}
              </tr>
            </tfoot>
          )}
        </table>
      </section>
      <Reasons lines={lines} />
      <Sum sum={sum} publisher={ledger.publisher} />
      <p className="balance">
        {unexplained === 0 && !present ? (
          <>
            <StateIcon state="no_data" size={16} /> {t("The books balanced then. Whether they do now is not known.")}
          </>
        ) : unexplained === 0 ? (
          <>
            <CircleCheck size={16} aria-hidden className="s-up" /> {t("The books balance: nothing is unexplained.")}
          </>
        ) : (
          <>
            <TriangleAlert size={16} aria-hidden className="s-degraded" />{" "}
            {t(
              "{n, plural, one {# check not explained yet. The sweep settles them within minutes.} other {# checks not explained yet. The sweep settles them within minutes.}}",
              { n: unexplained },
            )}
          </>
        )}
      </p>
    </>
  );
}

/** The outcomes that are no measurement, each with its reason. */
function Reasons({ lines }: { lines: readonly LedgerLine[] }) {
  const all = stated(lines);
  if (all.length === 0) return null;
  return (
    <div className="ledger-reasons">
      <h3>{t("Why checks were not measured")}</h3>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
      <section className="scroll-x" tabIndex={0} aria-label={t("Why checks were not measured")}>
        <table>
          <thead>
            <tr>
              <th scope="col">{t("Reason")}</th>
              <th scope="col">{t("Outcome")}</th>
              <th scope="col">{t("Region")}</th>
              <th scope="col" className="num">
                {t("Checks")}
              </th>
            </tr>
          </thead>
          <tbody>
            {all.map((one) => (
              <tr key={`${one.region}/${one.status}/${one.reason}`}>
                <td title={one.reason}>{explain("", one.reason)}</td>
                <td>{statusWords[one.status]}</td>
                <td>{one.region}</td>
                <td className="num">{count(one.count)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </div>
  );
}

/** The account in one line, and beside it what the publisher says it did. */
function Sum({ sum, publisher }: { sum: Record<Figure, number>; publisher: Ledger["publisher"] | undefined }) {
  return (
    <div className="ledger-sum">
      <p>
        {t(
          "{planned, number} planned = {measured, number} measured + {unknown, number} unknown + {missed, number} missed + {open, number} under way + {unexplained, number} unexplained",
          {
            planned: sum.planned,
            measured: sum.up + sum.degraded + sum.down,
            unknown: sum.unknown,
            missed: sum.missed,
            open: sum.in_flight + sum.spooled,
            unexplained: sum.unexplained,
          },
        )}
      </p>
      {publisher && (
        <p className="muted">
          {t(
            "The publisher noted {due, number} due: {published, number} published, {missed, number} stated as missed; these include targets deleted since",
            publisher,
          )}
        </p>
      )}
    </div>
  );
}
