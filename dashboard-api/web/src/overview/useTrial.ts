import { useEffect, useState } from "react";
import { api } from "../api/endpoints";
import type { Batch, BatchSet, Before } from "../api/types";

/** Typing has ended for so long before the server is asked. */
const QUIET_MS = 200;
/** So many are asked for at a time: others can write meanwhile. */
const PART = 1_000;

export type Trial = Pick<Batch, "refused"> & { set: BatchSet; before: Before[]; changed: number };

/**
 * What setting these members of many would come to, as the server says it. While that is on its way the last
 * answer stands, and is not current.
 */
export function useTrial(
  ids: readonly number[],
  set: BatchSet,
): { trial: Trial | null; current: boolean; error: unknown } {
  const [state, setState] = useState<{ of: string; trial: Trial | null; error: unknown }>({
    of: "{}",
    trial: null,
    error: null,
  });
  const of = JSON.stringify(set);
  useEffect(() => {
    if (of === "{}") return setState({ of, trial: null, error: null });
    const leaving = new AbortController();
    const ask = async () => {
      const set: BatchSet = JSON.parse(of);
      const trial: Trial = { set, before: [], refused: [], changed: 0 };
      for (let at = 0; at < ids.length; at += PART) {
        const answer = await api.tryTargets(ids.slice(at, at + PART), set, leaving.signal);
        trial.before.push(...(answer.before ?? []));
        trial.refused.push(...answer.refused);
        trial.changed += answer.changed.length;
      }
      return trial;
    };
    const timer = setTimeout(() => {
      ask().then(
        (trial) => setState({ of, trial, error: null }),
        (error) => leaving.signal.aborted || setState({ of, trial: null, error }),
      );
    }, QUIET_MS);
    return () => {
      clearTimeout(timer);
      leaving.abort();
    };
  }, [of, ids]);
  return { trial: state.trial, current: state.of === of, error: state.error };
}
