import { Link } from "@tanstack/react-router";
import { UserRoundCheck } from "lucide-react";
import type { Incident } from "../api/incidents";
import { StateIcon } from "../ui/StateIcon";
import { Ago, Clock } from "../ui/time";
import { duration, listed } from "../ui/words";
import { Rich } from "../words/Rich";
import { t } from "../words/t";
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
          {bare ? cause(incident) : incident.target.name || t("Incident {id}", { id: incident.id })}
        </Link>
        {subject && <span className="tag">{subject}</span>}
        {!bare && <p className="incident-why">{cause(incident)}</p>}
        <p className="incident-meta">
          <span className={`word s-${iconOf(incident)}`}>
            {over
              ? t(
                  "{severity, select, down {Resolved, was down} degraded {Resolved, was degraded} other {Resolved, was no data}}",
                  { severity: incident.severity },
                )
              : severityWord(incident.severity)}
          </span>
          {incident.state === "acknowledged" && (
            <span className="acked">
              <UserRoundCheck size={13} aria-hidden /> {stateWord.acknowledged}
            </span>
          )}
          {incident.regions.length > 0 && <span>{listed(incident.regions)}</span>}
        </p>
      </div>
      <div className="incident-when">
        {over ? <b>{duration(incident.duration_s)}</b> : <Ago at={incident.began_at} bare />}
        <p className="muted">
          <Rich text={over ? "from {time}" : "since {time}"} time={<Clock at={incident.began_at} dated />} />
        </p>
      </div>
    </li>
  );
}
