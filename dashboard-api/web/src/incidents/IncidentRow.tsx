import { Link } from "@tanstack/react-router";
import { UserRoundCheck } from "lucide-react";
import type { Incident } from "../api/incidents";
import { StateIcon } from "../ui/StateIcon";
import { Ago, Clock } from "../ui/time";
import { duration } from "../ui/words";
import { cause, iconOf, severityWord, stateWord, subjectWord } from "./words";

/** One incident in a list: how bad, of what, since when, why, and who saw it. */
export function IncidentRow({ incident, bare = false }: { incident: Incident; bare?: boolean }) {
  const over = incident.state === "resolved";
  const subject = subjectWord(incident);
  return (
    <li className="incident">
      <StateIcon state={iconOf(incident)} size={22} />
      <div className="incident-what">
        <Link
          to="/incidents/$id"
          params={{ id: String(incident.id) }}
          className="incident-link"
          data-incident={incident.id}
        >
          {bare ? cause(incident) : incident.target.name || `Incident ${incident.id}`}
        </Link>
        {subject && <span className="tag">{subject}</span>}
        {!bare && <p className="incident-why">{cause(incident)}</p>}
        <p className="incident-meta">
          <span className={`word s-${iconOf(incident)}`}>
            {over ? `Resolved, was ${severityWord(incident.severity).toLowerCase()}` : severityWord(incident.severity)}
          </span>
          {incident.state === "acknowledged" && (
            <span className="acked">
              <UserRoundCheck size={13} aria-hidden /> {stateWord.acknowledged}
            </span>
          )}
          {incident.regions.length > 0 && <span>{incident.regions.join(", ")}</span>}
        </p>
      </div>
      <div className="incident-when">
        {over ? <b>{duration(incident.duration_s)}</b> : <Ago at={incident.began_at} bare />}
        <p className="muted">
          {over ? "from " : "since "}
          <Clock at={incident.began_at} dated />
        </p>
      </div>
    </li>
  );
}
