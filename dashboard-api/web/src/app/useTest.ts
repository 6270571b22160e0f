import { useCallback } from "react";
import type { Check } from "../api/checks";
import { api } from "../api/endpoints";
import { briefly } from "../ui/problems";
import { listed } from "../ui/words";
import { t } from "../words/t";
import { useToast } from "./toasts";

/** Visits a saved target now, as it is stored: from its own regions, with its secrets. */
export async function testTarget(id: number): Promise<Check> {
  const target = await api.target(id);
  if (target.kind === "heartbeat") throw new Error(t("a heartbeat is pinged by its job: there is nothing to visit"));
  return api.check({ target_id: id });
}

/** Asks for a visit now, and says so. */
export function useTest(): (target: { id: number; name: string }) => Promise<void> {
  const toast = useToast();
  return useCallback(
    async ({ id, name }) => {
      try {
        const check = await testTarget(id);
        const regions = listed(check.regions);
        toast({ text: t(regions ? "{name} is tested from {regions}." : "{name} is tested.", { name, regions }) });
        const { ended, outcome } = await import("./tested");
        const done = await ended(check.id);
        if (done) toast({ text: t("{name}: {outcome}", { name, outcome: outcome(done) }) });
      } catch (error) {
        toast({ bad: true, text: t("{name} was not tested: {why}", { name, why: briefly(error) }) });
      }
    },
    [toast],
  );
}
