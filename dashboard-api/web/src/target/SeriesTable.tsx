import type { Series } from "../api/types";
import { Clock } from "../ui/time";
import { latency } from "../ui/words";
import { t } from "../words/t";
import { phases } from "./phases";
import { plain } from "./words";

/** The chart's numbers, newest first. */
export function SeriesTable({ series }: { series: Series }) {
  const rows = series.x.map((at, i) => ({ at, i })).reverse();
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <section className="scroll-x series-table" tabIndex={0} aria-label={t("Response times as a table")}>
      <table>
        <thead>
          <tr>
            <th scope="col">{t("From")}</th>
            <th scope="col" className="num">
              {t("Checks")}
            </th>
            <th scope="col" className="num">
              {t("Down")}
            </th>
            <th scope="col" className="num">
              {t("No data")}
            </th>
            <th scope="col" className="num">
              {t("Median")} (p50)
            </th>
            <th scope="col" className="num">
              p95
            </th>
            <th scope="col" className="num">
              p99
            </th>
            {phases.map((phase) => (
              <th key={phase.key} scope="col" className="num">
                {phase.label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ at, i }) => (
            <tr key={at}>
              <td>
                <Clock at={at * 1000} dated />
              </td>
              <td className="num">{plain(series.count[i] ?? 0)}</td>
              <td className="num">{plain(series.down[i] ?? 0)}</td>
              <td className="num">{plain((series.unknown[i] ?? 0) + (series.missed[i] ?? 0))}</td>
              <td className="num">{latency(series.p50_us[i])}</td>
              <td className="num">{latency(series.p95_us[i])}</td>
              <td className="num">{latency(series.p99_us[i])}</td>
              {phases.map((phase) => (
                <td key={phase.key} className="num">
                  {latency(series[`${phase.key}_us`][i])}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
