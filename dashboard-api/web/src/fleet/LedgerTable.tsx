import { CircleCheck, TriangleAlert } from "lucide-react";
import type { LedgerLine } from "../api/types";
import { count } from "../ui/words";
import { t } from "../words/t";

const columns: [keyof Omit<LedgerLine, "region">, string][] = [
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

/** Planned = the sum of the outcomes, per region. */
export function LedgerTable({ lines }: { lines: readonly LedgerLine[] }) {
  if (lines.length === 0) return <p className="pad muted">{t("Nothing was planned in this period.")}</p>;
  const unexplained = lines.reduce((n, line) => n + line.unexplained, 0);
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
        </table>
      </section>
      <p className="balance">
        {unexplained === 0 ? (
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
