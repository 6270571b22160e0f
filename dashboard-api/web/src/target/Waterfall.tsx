import type { Phases } from "../api/types";
import { latency } from "../ui/words";
import { t } from "../words/t";
import { phases } from "./phases";
import "../styles/phases.css";

const sumOf = (times: Phases): number => phases.reduce((sum, { key }) => sum + times[`${key}_us`], 0);

/** How long each hop took, and all of them. */
export function spansOf(hops: readonly { phases: Phases }[]): { before: number[]; whole: number } {
  const before: number[] = [];
  let whole = 0;
  for (const hop of hops) {
    before.push(whole);
    whole += sumOf(hop.phases);
  }
  return { before, whole };
}

/** The phases one after the other, as they happened; of a hop they begin after those before it. */
export function Waterfall({
  label,
  times,
  totalUs,
  cached,
  beforeUs = 0,
  wholeUs = 0,
}: {
  label: string;
  times: Phases;
  totalUs: number;
  /** No name had to be looked up. */
  cached: boolean;
  beforeUs?: number;
  wholeUs?: number;
}) {
  const whole = Math.max(sumOf(times), totalUs, wholeUs, 1);
  let before = beforeUs;
  return (
    <ol className="waterfall" aria-label={label}>
      {phases.map(({ key, label }) => {
        const us = times[`${key}_us`];
        const start = before;
        before += us;
        return (
          <li key={key} data-skipped={us === 0 || undefined}>
            <span className="wf-name">{label}</span>
            <span className="wf-track">
              <span
                className={`wf-bar p-${key}`}
                style={{ marginInlineStart: `${(start / whole) * 100}%`, width: `${(us / whole) * 100}%` }}
              />
            </span>
            <span className="wf-time">{us > 0 ? latency(us) : key === "dns" && cached ? t("cached") : "–"}</span>
          </li>
        );
      })}
      <li className="wf-total">
        <span className="wf-name">{t("Total")}</span>
        <span className="wf-track" />
        <span className="wf-time">{latency(totalUs)}</span>
      </li>
    </ol>
  );
}
