import { ApiError } from "../api/client";
import { api } from "../api/endpoints";
import type { Target, TargetInput } from "../api/types";
import { inTurn } from "../overview/selection";
import { errorsOf } from "./form";
import type { Judged } from "./lines";

const AT_ONCE = 4;

/** Adds a target for each line, all with the same settings; one that is refused does not stop the others. */
export async function addLines(
  lines: readonly Judged[],
  settings: TargetInput,
  onAdded: (line: Judged, target: Target) => void,
  onRefused: (line: Judged, why: string) => void,
  stopped: () => boolean = () => false,
): Promise<void> {
  const add = async (line: Judged) => {
    try {
      onAdded(line, await api.createTarget({ ...settings, url: line.url, ...(line.name && { name: line.name }) }));
    } catch (error) {
      const errors = error instanceof ApiError ? errorsOf(error.problem) : { form: String(error) };
      onRefused(line, Object.values(errors).join(" "));
    }
  };
  await inTurn(lines, add, () => {}, stopped, AT_ONCE);
}
