// What became of a check that was asked for, or of the preview of something saved.

import { type Check, hasEnded } from "../api/checks";
import { api } from "../api/endpoints";
import { listed } from "../ui/words";
import { t } from "../words/t";
import type { ToastInput } from "./toasts";

const LOOKS = 40;
const EVERY_MS = 1_000;

/** The check once it has ended; null if that takes too long. */
export async function ended(id: string): Promise<Check | null> {
  for (let i = 0; i < LOOKS; i++) {
    await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
    const check = await api.getCheck(id);
    if (hasEnded(check)) return check;
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

/** A target that was saved, and the check that shows what it comes to. */
export interface Previewed {
  name: string;
  check: string;
}

/** What the previews found, in one sentence; "" without any. */
export function previewWords(seen: readonly { name: string; check: Check }[]): string {
  const [first] = seen;
  if (!first) return "";
  if (seen.length === 1) return t("{name}: {outcome}", { name: first.name, outcome: outcome(first.check) });
  const others = seen.filter(({ check }) => !seenUp(check)).map(({ name }) => name);
  return others.length === 0
    ? t("Tested at once: {n, number}. All are up.", { n: seen.length })
    : t("Tested at once: {n, number}. Not seen up: {names}.", { n: seen.length, names: listed(others) });
}

function seenUp(check: Check): boolean {
  const seen = check.results.filter((result) => result.checked_at !== null);
  return seen.length > 0 && seen.every(({ status }) => status === "up");
}

/** Says what the previews found, once all have ended. They are a favour: of one that cannot be read nothing is said. */
export async function tellPreviews(of: readonly Previewed[], toast: (toast: ToastInput) => void): Promise<void> {
  const all = await Promise.all(
    of.map(async ({ name, check }) => ({ name, check: await ended(check).catch(() => null) })),
  );
  const text = previewWords(all.flatMap(({ name, check }) => (check ? [{ name, check }] : [])));
  if (text) toast({ text });
}
