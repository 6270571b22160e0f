// Why something is as it is, in the language of the page: of what the server says in English, the parts.
// Loaded for the other languages alone.

import type { Clause, Seen } from "../api/live.gen";
import type { State } from "../api/types";
import { t } from "../words/t";
import { absolute } from "./time";
import { sayWith } from "./why";
import { duration, explain, listed, stateWords } from "./words";

const sights: Record<string, string> = {
  degraded: stateWords.degraded,
  slow: t("Slower than allowed"),
  certificate: t("The certificate ends soon"),
  recovering: t("Recovering"),
};

function sight({ region, what, http_status, said, n, of }: Seen): string {
  const words = { region, what: said || (sights[what] ?? explain(what, "", http_status)) };
  return of
    ? t("{region}: {what} ({n, number} of {of, number})", { ...words, n: n ?? 0, of })
    : t("{region}: {what}", words);
}

/** Some names of so many. */
function some(names: readonly string[], n: number): string {
  const more = n - names.length;
  return more > 0 ? t("{names} and {n, number} more", { names: listed(names), n: more }) : listed(names);
}

const word = (severity: string): string => stateWords[severity as State] ?? severity;

const facts: Record<Clause["is"], (given: Required<Clause>) => string> = {
  paused: () => t("Not being checked"),
  maintenance: () => t("In maintenance"),
  unchecked: () => t("No region is checking it"),
  unheard: ({ names }) => t("Nothing yet from {regions}", { regions: listed(names) }),
  no_data: ({ at }) => t("The last result is of {time}", { time: absolute(at) }),
  up: ({ n }) => t("Up in every region that reports ({n, number})", { n }),
  down: ({ n, of, seen }) => t("Down in {n, number} of {of, number}: {seen}", { n, of, seen: listed(seen.map(sight)) }),
  degraded: ({ n, of, seen }) =>
    t("Degraded in {n, number} of {of, number}: {seen}", { n, of, seen: listed(seen.map(sight)) }),
  doubted: ({ seen }) => t("Not counted yet: {seen}", { seen: listed(seen.map(sight)) }),
  silent: ({ names }) => t("Silent: {regions}", { regions: listed(names) }),
  blind: ({ names }) => t("Blind, so not asked: {regions}", { regions: listed(names) }),
  depends: ({ name }) => t("It depends on {name}, which is down", { name }),
  changed: ({ what, name }) => t("From {before} to {after}", { before: word(what), after: word(name) }),
  began: ({ at }) => t("It began at {time}", { time: absolute(at) }),
  needs: ({ n, of }) => t("Regions that must fail: {n, number} of {of, number}", { n, of }),
  times: ({ n }) => t("Results in a row: {n, number}", { n }),
  lasting: ({ n }) => t("For at least {time}", { time: duration(n) }),
  held: ({ what }) =>
    t(
      "{what, select, maintenance {Suppressed by maintenance until now} other {Suppressed until now by what it depends on}}",
      { what },
    ),
  dependents: ({ n }) => t("Targets that depend on it: {n, number}", { n }),
  together: ({ n, of, at, what, name, names }) =>
    inRow([
      t("Targets that fail together since {time}: {n, number} ({names})", {
        time: absolute(at),
        n,
        names: some(names, n),
      }),
      t(
        "{what, select, host {They share the host} address {They share the address} network {They share the network} issuer {They share the issuer of certificates} dns_server {They share the name servers} failure {They share the kind of failure} other {They share}}: {name}",
        { what, name: what === "failure" ? explain(name, "") : name },
      ),
      t("Well with the same: {n, number}", { n: of }),
    ]),
  more: ({ n, names }) => t("More of them: {n, number} ({names})", { n, names: some(names, n) }),
};

const inRow = (said: readonly string[]): string => said.reduce((one, two) => t("{one}; {two}", { one, two }));

const nothing = { n: 0, of: 0, what: "", name: "", names: [], at: "", seen: [] };

/** The clauses in a row; "" when there are none, or one that only a newer server knows. */
export function because(clauses: readonly Clause[]): string {
  if (clauses.length === 0 || clauses.some(({ is }) => !Object.hasOwn(facts, is))) return "";
  return inRow(clauses.map((clause) => facts[clause.is]({ ...nothing, ...clause })));
}

sayWith(because);
