import type { DeadLetter } from "../api/types";
import { t } from "../words/t";

/** Whether somebody has asked for it already, and it is not over. */
export const waiting = ({ replay }: Pick<DeadLetter, "replay">): boolean => replay === "asked" || replay === "running";

/** How far the replay of a dead letter is. */
export function replayWords({
  replay,
  replayable,
  tries,
}: Pick<DeadLetter, "replay" | "replayable" | "tries">): string {
  if (!replayable) return t("This version cannot read it");
  if (replay === "asked") return t("Waits for a prober");
  if (replay === "running") return t("Being run");
  if (replay === "given_up")
    return t("{n, plural, one {Given up after # try} other {Given up after # tries}}", { n: tries });
  return "";
}
