import type { IncidentDetail, IncidentEvent, PublicUpdate } from "../api/incidents";
import type { Result, State, User } from "../api/types";
import { whyWords } from "../ui/why";
import { explain, latency, stateOfStatus, tellingStatus } from "../ui/words";
import { t } from "../words/t";
import { actorWord, capital, isSelf } from "./words";

export type LineKind = "failure" | "confirmation" | "told" | IncidentEvent["kind"];

/** One thing that happened. */
export interface Line {
  key: string;
  kind: LineKind;
  at: string;
  title: string;
  text: string;
  /** How a region found it, where one did. */
  state?: State;
  /** The update of a post that it is. */
  update?: PublicUpdate;
  /** It went wrong: a message that was not delivered. */
  bad?: boolean;
}

// Of what has one instant: what was seen comes before what was made of it.
const ranks: Record<LineKind, number> = {
  failure: 0,
  confirmation: 1,
  opened: 2,
  severity: 3,
  notified: 4,
  acknowledged: 5,
  note: 6,
  told: 7,
  corrected: 8,
  resolved: 9,
};

/** The first result of each region that was not up. */
export function firstFailures(results: readonly Result[]): Result[] {
  const first = new Map<string, Result>();
  for (const result of results) {
    if (result.status !== "down" && result.status !== "degraded") continue;
    const known = first.get(result.region);
    if (!known || result.scheduled_at < known.scheduled_at) first.set(result.region, result);
  }
  return [...first.values()].sort((a, b) => (a.scheduled_at < b.scheduled_at ? -1 : 1));
}

/** Everything there is to tell of an incident, in the order in which it happened. */
export function timelineOf(incident: IncidentDetail, results: readonly Result[], self: User | null): Line[] {
  const lines: Line[] = [];
  const seen = firstFailures(results);
  for (const result of seen) {
    lines.push({
      key: `f-${result.region}`,
      kind: "failure",
      at: result.scheduled_at,
      state: stateOfStatus(result.status),
      title:
        result === seen[0]
          ? t("First failing check, from {region}", { region: result.region })
          : t("First failing check from {region}", { region: result.region }),
      text: found(incident.target.kind, result),
    });
  }
  if (seen.length === 0) {
    lines.push({
      key: "began",
      kind: "failure",
      at: incident.began_at,
      title: began(incident),
      text: "",
      state: incident.severity,
    });
  }
  incident.confirmations.forEach((c, i) => {
    lines.push({
      key: `c-${i}`,
      kind: "confirmation",
      at: c.checked_at,
      state: stateOfStatus(c.status),
      title: t(
        "{state, select, up {{region} looked again: up} degraded {{region} looked again: degraded} down {{region} looked again: down} other {{region} looked again: no data}}",
        { region: c.region, state: stateOfStatus(c.status) },
      ),
      text: found(incident.target.kind, c),
    });
  });
  for (const event of incident.timeline) lines.push(lineOf(event, self, incident));
  for (const update of incident.public_updates) lines.push(toldReaders(update, self));
  return lines.sort((a, b) => Date.parse(a.at) - Date.parse(b.at) || ranks[a.kind] - ranks[b.kind]);
}

const MOST = 100; // that an incident comes with, of each

/** What a timeline does not have all of, in words. */
export function cutOf(incident: Pick<IncidentDetail, "confirmations" | "public_updates">): string[] {
  const cut = [];
  if (incident.confirmations.length >= MOST) cut.push(t("Only the first 100 confirmations are shown."));
  if (incident.public_updates.length >= MOST)
    cut.push(t("Of what readers were told, only the newest 100 updates are shown."));
  return cut;
}

function began(incident: IncidentDetail): string {
  if (incident.target.kind === "region") return t("It could not be believed from here on");
  return t(incident.severity === "no_data" ? "First check without data" : "First failing check");
}

function found(kind: string, r: Pick<Result, "failure" | "reason" | "http_status" | "total_us" | "message">): string {
  const why = explain(r.failure, r.reason, tellingStatus(kind, r.http_status));
  const what = why && r.message ? t("{what}: {why}", { what: why, why: r.message }) : why || r.message;
  if (r.total_us <= 0) return what;
  const time = latency(r.total_us);
  return what ? t("{what}, after {time}", { what, time }) : t("after {time}", { time });
}

function lineOf(event: IncidentEvent, self: User | null, incident: IncidentDetail): Line {
  const text = event.text === incident.explanation ? whyWords(event.text, incident.because) : event.text;
  const line: Line = { key: `e-${event.id}`, kind: event.kind, at: event.at, title: "", text };
  const by = { who: isSelf(event.author, self) ? "you" : "other", name: actorWord(event.author, self) };
  switch (event.kind) {
    case "opened":
      return { ...line, title: t("Confirmed, the incident was opened") };
    case "severity":
      return { ...line, title: t("Its severity changed") };
    case "notified":
      return { ...line, ...told(event.text) };
    case "acknowledged":
      return { ...line, title: t("{who, select, you {You acknowledged it} other {{name} acknowledged it}}", by) };
    case "note":
      return { ...line, title: t("{who, select, you {You noted} other {{name} noted}}", by) };
    case "corrected":
      return { ...line, title: t("Corrected") };
    default:
      return { ...line, title: t("Resolved") };
  }
}

function toldReaders(update: PublicUpdate, self: User | null): Line {
  const { author, page, post_id, number } = update;
  const who = author === "" ? "nobody" : isSelf(author, self) ? "you" : "other";
  return {
    key: `u-${post_id}-${number}`,
    kind: "told",
    at: update.at,
    title: t(
      "{who, select, you {You told readers of {page}} nobody {Readers of {page} were told} other {{name} told readers of {page}}}",
      { who, name: actorWord(author, self), page },
    ),
    text: update.text,
    update,
  };
}

/** "mail (email): opened, not delivered: refused" in the parts people look for. */
export function told(text: string): Pick<Line, "title" | "text" | "bad"> {
  const parts = /^(.*) \((\w+)\): (\w+)(?:, not delivered: ([\s\S]*))?$/.exec(text);
  if (!parts) return { title: capital(text), text: "" };
  const [, name, kind, event, why] = parts;
  const channel = `${name} (${kind})`;
  const what = t(
    "{event, select, opened {opened} severity {severity} note {note} acknowledged {acknowledged} resolved {resolved} corrected {corrected} escalated {escalated} reminder {reminder} test {test} other {{event}}}",
    { event },
  );
  if (why === undefined) return { title: t("{channel} was told", { channel }), text: what, bad: false };
  return { title: t("{channel} was not told", { channel }), text: t("{what}: {why}", { what, why }), bad: true };
}
