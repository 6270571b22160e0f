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
        const done = await ended(check.id);
        if (done) toast({ text: t("{name}: {outcome}", { name, outcome: outcome(done) }) });
      } catch (error) {
        toast({ bad: true, text: t("{name} was not tested: {why}", { name, why: briefly(error) }) });
      }
    },
    [toast],
  );
}

const LOOKS = 40;
const EVERY_MS = 1_000;

async function ended(id: string): Promise<Check | null> {
  for (let i = 0; i < LOOKS; i++) {
    await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
    const check = await api.getCheck(id);
    if (check.state === "COMPLETED" || check.state === "FAILED_PERMANENT") return check;
  }
  return null;
}

/** What each region saw, in one line. */
export function outcome(check: Pick<Check, "results" | "error">): string {
  const seen = check.results.filter((result) => result.checked_at !== null);
  if (seen.length === 0) return check.error || t("no region measured");
  return listed(
    seen.map(({ status, region, total_us }) =>
      t(
        "{status, select, up {up from {region} in {time}} degraded {degraded from {region} in {time}} down {down from {region} in {time}} missed {missed from {region} in {time}} other {unknown from {region} in {time}}}",
        { status, region, time: t("{n} ms", { n: Math.round(total_us / 1000) }) },
      ),
    ),
  );
}
