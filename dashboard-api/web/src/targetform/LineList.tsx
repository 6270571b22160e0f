import { Check, CircleAlert, CircleMinus, Clock } from "lucide-react";
import { t } from "../words/t";
import type { Line } from "./lines";

/** Where a line stands: it can be sent, is wrong, is left out, waits for its turn, or has become a target. */
export type Standing = "good" | "bad" | "skip" | "waits" | "added";

const icons = { good: Check, bad: CircleAlert, skip: CircleMinus, waits: Clock, added: Check };

/** Every line with its number and what is to be said of it. */
export function LineList({ lines }: { lines: readonly (Line & { is: Standing; why: string })[] }) {
  const words = { good: t("Can be added"), bad: "", skip: "", waits: t("Waiting"), added: t("Added") };
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keyboard
    <section className="paste-lines" aria-label={t("Lines")} tabIndex={0}>
      <ol>
        {lines.map((line) => {
          const Icon = icons[line.is];
          return (
            <li key={line.no} data-line={line.no} data-is={line.is}>
              <span className="paste-no">
                <span className="sr">{t("Line")} </span>
                {line.no}
              </span>
              <Icon size={15} aria-hidden />
              <div>
                <span className="mono">{line.url || line.text.trim()}</span>
                {line.name && <span> {line.name}</span>}
                <p>{line.why || words[line.is]}</p>
              </div>
            </li>
          );
        })}
      </ol>
    </section>
  );
}
