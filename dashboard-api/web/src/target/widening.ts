import { ApiError } from "../api/client";
import { coarser } from "./zoom";

/** Asks in wider steps where the narrow ones are not kept any more. */
export async function widening<T>(step: number, ask: (step: number) => Promise<T>): Promise<T> {
  const [first = step, ...wider] = coarser(step);
  try {
    return await ask(first);
  } catch (error) {
    const [next] = wider;
    if (!(error instanceof ApiError && error.status === 422) || next === undefined) throw error;
    return widening(next, ask);
  }
}
