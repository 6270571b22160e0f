import type { Incident, IncidentState, Severity } from "../api/incidents";
import type { State, User } from "../api/types";
import { whyWords } from "../ui/why";
import { explain, stateWords, tellingStatus } from "../ui/words";
import { t } from "../words/t";

export const stateWord: Record<IncidentState, string> = {
  open: t("Open"),
  acknowledged: t("Acknowledged"),
  resolved: t("Resolved"),
};

export const idOf = (incident: Incident): number => incident.id;

export const severityWord = (severity: Severity): string => stateWords[severity];

/** What is over has the icon of up, the rest that of how bad it is. */
export const iconOf = (incident: Pick<Incident, "state" | "severity">): State =>
  incident.state === "resolved" ? "up" : incident.severity;

/** Why, in words: the verdict's own, else those of the failure. */
export function cause(
  incident: Pick<Incident, "explanation" | "because" | "failure" | "http_status" | "target">,
): string {
  if (incident.explanation) return capital(whyWords(incident.explanation, incident.because));
  return (
    explain(incident.failure, "", tellingStatus(incident.target.kind, incident.http_status)) || t("Cause not known")
  );
}

export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** What it is about when it is about no target. */
export function subjectWord(incident: Pick<Incident, "target_id" | "target">): string {
  if (incident.target_id > 0) return "";
  if (incident.target.kind === "region") return t("Blind region");
  return incident.target.kind === "group" ? t("Shared cause") : "";
}

export const isSelf = (actor: string, self: User | null): boolean => self !== null && actor === `user:${self.id}`;

/** Who did it: people are known by number, keys by theirs. */
export function actorWord(actor: string, self: User | null): string {
  if (actor === "") return "Probefleet";
  const [kind, number = ""] = actor.split(":");
  if (isSelf(actor, self)) return t("You");
  if (kind === "user") return t("User {number}", { number });
  if (kind === "key") return number ? t("API key {id}", { id: number }) : t("API key");
  return actor;
}
