import type { DeadLetter } from "../api/types";
import { t } from "../words/t";

/** Whether somebody has asked for it already, and it is not over. */
export const waiting = ({ replay }: Pick<DeadLetter, "replay">): boolean => replay === "asked" || replay === "running";

const MOST = 100; // that the API takes in one request

/** Asks for a replay of any number of letters: how many are run again, and what kept it from asking for the rest. */
export async function askAll(
  ids: readonly string[],
  ask: (some: readonly string[]) => Promise<{ asked: number }>,
): Promise<{ asked: number; error: Error | null }> {
  let asked = 0;
  for (let at = 0; at < ids.length; at += MOST) {
    try {
      asked += (await ask(ids.slice(at, at + MOST))).asked;
    } catch (error) {
      return { asked, error: error as Error };
    }
  }
  return { asked, error: null };
}

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
