// What changed between the last good and the first bad check, in words.

import type { Changes, Difference, Gap, RegionChanges } from "../api/changes";
import type { Zone } from "../app/preferences";
import { phases } from "../target/phases";
import type { ChangeRow } from "../ui/ChangeLine";
import { absolute } from "../ui/time";
import { explain, latency, tellingStatus } from "../ui/words";
import { locale, t } from "../words/t";

const NONE = t("none");

const names: Record<Exclude<Difference["what"], "phase" | "target" | "headers">, string> = {
  failure: t("Failure"),
  http_status: t("Status code"),
  address: t("Address"),
  certificate: t("Certificate"),
  issuer: t("Issuer of the certificate"),
  expiry: t("Certificate valid until"),
  redirect: t("Final address"),
  tls: t("TLS version"),
  protocol: t("Protocol"),
};

const phaseWord = (phase: string): string => phases.find(({ key }) => key === phase)?.label ?? phase;

/** The differences of a region as lines; headers are one line each. */
export function rowsOf(region: Pick<RegionChanges, "differences">, kind: string, zone: Zone): ChangeRow[] {
  return region.differences.flatMap((one): ChangeRow[] => {
    const { what, before, after } = one;
    switch (what) {
      case "failure":
        return [row(what, names[what], explain(before, ""), explain(after, ""))];
      case "http_status":
        return tellingStatus(kind, 1) ? [row(what, names[what], before, after)] : [];
      case "phase":
        return [
          row(
            what,
            t(one.ended ? "Ended in: {phase}" : "Slower: {phase}", { phase: phaseWord(one.phase) }),
            time(before),
            one.ended && after !== "0" ? t("ended after {time}", { time: time(after) }) : time(after),
          ),
        ];
      case "target":
        return [row(what, t("The target was edited"), t("version {n}", { n: before }), t("version {n}", { n: after }))];
      case "certificate":
        return [{ ...row(what, names[what], fingerprint(before), fingerprint(after), true), titles: [before, after] }];
      case "expiry":
        return [row(what, names[what], date(before, zone), date(after, zone))];
      case "headers":
        return one.headers.map((h) =>
          row(`header-${h.name}`, t("Header {name}", { name: h.name }), h.before, h.after, true),
        );
      default:
        return [row(what, names[what] ?? what, before, after, what !== "tls" && what !== "protocol")];
    }
  });
}

const row = (key: string, name: string, before: string, after: string, code = false): ChangeRow => ({
  key,
  name,
  before: before || NONE,
  after: after || NONE,
  code,
});

const time = (us: string): string => (us === "0" ? "" : latency(Number(us)));
const fingerprint = (sha256: string): string => (sha256 ? `SHA-256 ${sha256.slice(0, 16)}…` : "");
const date = (at: string, zone: Zone): string => (at ? absolute(at, zone) : "");

// Whole sentences: in other languages the thing changes with what is said of it.
const gapNames: Record<Gap["what"], string> = {
  address: t("the address"),
  certificate: t("the certificate"),
  redirect: t("where it redirects to"),
  headers: t("the headers"),
};

const whys: Record<Gap["why"], (things: string) => string> = {
  no_print: (things) => t("Not known of {things}: nothing is stored of what the last good check saw.", { things }),
  unsteady: (things) => t("Not known of {things}: it changes too often to be compared.", { things }),
  no_evidence: (things) => t("Not known of {things}: nothing is stored of what the failed check saw.", { things }),
  not_reached: (things) => t("Not known of {things}: the failed check ended before it got that far.", { things }),
  elsewhere: (things) => t("Not known of {things}: the failed check ended at another server.", { things }),
};

const both = new Intl.ListFormat(locale());

/** A sentence for each reason of not knowing, in the order of the gaps. */
export function gapsOf(gaps: Gap[]): string[] {
  const byWhy = new Map<Gap["why"], string[]>();
  for (const { what, why } of gaps) byWhy.set(why, [...(byWhy.get(why) ?? []), gapNames[what] ?? what]);
  return [...byWhy].map(
    ([why, things]) =>
      whys[why]?.(both.format(things)) ?? t("Not known of {things}: {why}.", { things: both.format(things), why }),
  );
}

/** Whether all that differs is how the check went: nothing says why. */
export const onlyFailed = (region: Pick<RegionChanges, "differences" | "unknown">): boolean =>
  region.unknown.length === 0 &&
  region.differences.every(({ what }) => what === "failure" || what === "http_status" || what === "phase");

/** Why there is nothing to show, in words; empty: there is. */
export function missingWords(changes: Pick<Changes, "missing" | "regions">): string {
  switch (changes.missing) {
    case "no_target":
      return t("This incident is about no target, so no checks can be compared.");
    case "not_kept":
      return t("The checks of that time are not kept any more.");
    case "by_policy":
      return t("No check failed: they were slower than the policy of the target allows, or the certificate ends soon.");
    default:
      return changes.regions.length > 0 ? "" : t("No failed check of the first day of this incident is stored.");
  }
}
