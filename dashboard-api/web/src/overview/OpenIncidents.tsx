import { Link } from "@tanstack/react-router";
import { useOpenIncidents } from "../app/openIncidents";
import { cause, iconOf } from "../incidents/words";
import { AsOfNote } from "../ui/AsOf";
import { StateIcon } from "../ui/StateIcon";
import { Ago } from "../ui/time";
import { t } from "../words/t";
import "../styles/openincidents.css";

const MOST = 3;

/** One line, whatever is open, so that nothing moves when it comes: the newest of the open incidents and the way to all. */
export function OpenIncidents() {
  const { items, n, known, asOf } = useOpenIncidents();
  return (
    <section className="open-incidents" aria-label={t("Open incidents")} data-old={asOf !== null || undefined}>
      {known && items.length === 0 && <p className="muted">{t("No open incidents")}</p>}
      {asOf !== null && (
        <p className="muted">
          {items.length === 0 && <span>{t("No incident was open")}</span>}
          <AsOfNote at={asOf} />
        </p>
      )}
      <ul>
        {items.slice(0, asOf === null ? MOST : 1).map((incident) => (
          <li key={incident.id}>
            <StateIcon state={iconOf(incident)} size={17} />
            <Link
              to="/incidents/$id"
              params={{ id: String(incident.id) }}
              className="link cut"
              data-incident={incident.id}
            >
              {incident.target.name || t("Incident {id}", { id: incident.id })}
            </Link>
            <span className="muted cut why">{cause(incident)}</span>
            <span className="muted">
              <Ago at={incident.began_at} bare />
            </span>
          </li>
        ))}
      </ul>
      {items.length > 1 && (
        <Link to="/incidents" search={{ state: "open" }} className="link">
          {t("All open incidents ({n})", { n })}
        </Link>
      )}
    </section>
  );
}
