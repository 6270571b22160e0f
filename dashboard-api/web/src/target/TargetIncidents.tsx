import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { incidentApi } from "../api/incidents";
import { useIncidentsAsOf, useIncidentsEvery } from "../app/openIncidents";
import { IncidentRow } from "../incidents/IncidentRow";
import { idOf } from "../incidents/words";
import { AsOfNote } from "../ui/AsOf";
import { ErrorNote } from "../ui/ErrorNote";
import { useHeld } from "../ui/useHeld";
import { t } from "../words/t";
import "../styles/incidents.css";

const SHOWN = 5;

/** The newest incidents of a target; all of them are one click away. */
export function TargetIncidents({ id }: { id: number }) {
  const every = useIncidentsEvery();
  const list = useQuery({
    queryKey: ["incidents", "target", id],
    queryFn: () => incidentApi.list({ target_id: id, limit: SHOWN }),
    refetchInterval: every,
    refetchOnWindowFocus: every !== false,
  });
  const asOf = useIncidentsAsOf(list);
  const held = useHeld(list.data?.items ?? [], idOf, String(id));
  return (
    <section className={list.isPending ? "card holds" : "card"} aria-labelledby="incidents" {...held.card}>
      <div className="card-head">
        <h2 id="incidents">{t("Incidents")}</h2>
        <AsOfNote at={asOf} />
        {held.chip}
        {list.data && list.data.items.length > 0 && (
          <Link to="/incidents" search={{ target: String(id) }} className="link push">
            {t("All of this target")}
          </Link>
        )}
      </div>
      {list.error && !list.data && <ErrorNote error={list.error} onRetry={() => void list.refetch()} />}
      {list.isPending && <div className="skeleton incidents-skeleton" />}
      {list.data?.items.length === 0 && (
        <p className="pad muted">{t("None yet. One opens by itself when the target's rule says that it is down.")}</p>
      )}
      <ul className="incidents">
        {held.items.map((incident) => (
          <IncidentRow key={incident.id} incident={incident} bare />
        ))}
      </ul>
    </section>
  );
}
