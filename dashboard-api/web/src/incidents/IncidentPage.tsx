import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { ChevronLeft } from "lucide-react";
import { api } from "../api/endpoints";
import { type IncidentDetail, incidentApi } from "../api/incidents";
import { useIncidentsAsOf, useIncidentsEvery } from "../app/openIncidents";
import { useSelf } from "../app/useSelf";
import { AsOfNote } from "../ui/AsOf";
import { ErrorNote } from "../ui/ErrorNote";
import { StateIcon } from "../ui/StateIcon";
import { Ago, Clock } from "../ui/time";
import { duration, listed } from "../ui/words";
import { Rich } from "../words/Rich";
import { t } from "../words/t";
import { ChangesCard } from "./ChangesCard";
import { IncidentActions } from "./IncidentActions";
import { IncidentRow } from "./IncidentRow";
import { TellReaders } from "./TellReaders";
import { Timeline } from "./Timeline";
import { cutOf, timelineOf } from "./timeline";
import { actorWord, cause, iconOf, stateWord, subjectWord } from "./words";
import "../styles/target.css";
import "../styles/incidents.css";
import "../styles/statuspages.css";

const SEEN_MS = 3_600_000; // in which the first failures of all regions are looked for

export function IncidentPage() {
  const id = Number(useParams({ from: "/app/incidents/$id" }).id);
  const every = useIncidentsEvery();
  const incident = useQuery({
    queryKey: ["incidents", "one", id],
    queryFn: () => incidentApi.get(id),
    refetchInterval: every,
    refetchOnWindowFocus: every !== false,
  });
  const asOf = useIncidentsAsOf(incident);
  return (
    <div className="page">
      <Link to="/incidents" className="back">
        <ChevronLeft size={16} aria-hidden /> {t("Incidents")}
      </Link>
      {incident.data ? (
        <Details incident={incident.data} asOf={asOf} />
      ) : incident.error ? (
        <ErrorNote error={incident.error} onRetry={() => void incident.refetch()} />
      ) : (
        <div className="skeleton page-skeleton" />
      )}
    </div>
  );
}

function Details({ incident, asOf }: { incident: IncidentDetail; asOf: number | null }) {
  const self = useSelf();
  const over = incident.state === "resolved";
  const evidence = useQuery({
    queryKey: ["results", incident.target_id, "incident", incident.id],
    queryFn: () => {
      const from = Date.parse(incident.began_at);
      const to = Math.min(from + SEEN_MS, Math.max(from, Date.parse(incident.opened_at)) + 60_000);
      return api.results(incident.target_id, {
        limit: 1000,
        from: incident.began_at,
        to: new Date(to).toISOString(),
      });
    },
    enabled: incident.target_id > 0,
    retry: false, // the target may be gone, and its results with it
    staleTime: 60_000,
  });
  // Newest first: of those that do not fit on one page, the first failures are not known.
  const results = evidence.data?.next_cursor === null ? evidence.data.items : [];
  const lines = timelineOf(incident, results, self);
  const subject = subjectWord(incident);
  return (
    <>
      <div className="target-head">
        <StateIcon state={iconOf(incident)} size={40} />
        <div className="title">
          <h1>
            {incident.target.name || t("Incident {id}", { id: incident.id })}
            {subject && <span className="tag">{subject}</span>}
          </h1>
          <p className="verdict">
            <Rich
              text={
                over
                  ? "{severity, select, down {{state}, was down for {time}} degraded {{state}, was degraded for {time}} other {{state}, was no data for {time}}}"
                  : "{severity, select, down {{state}, down for {time}} degraded {{state}, degraded for {time}} other {{state}, no data for {time}}}"
              }
              severity={incident.severity}
              state={<b className={`word s-${iconOf(incident)}`}>{stateWord[incident.state]}</b>}
              time={over ? duration(incident.duration_s) : <Ago at={incident.began_at} bare />}
            />{" "}
            <AsOfNote at={asOf} />
          </p>
        </div>
        <div className="actions">
          {incident.target_id > 0 && (
            <Link to="/targets/$id" params={{ id: String(incident.target_id) }} className="btn">
              {t("Open the target")}
            </Link>
          )}
          <TellReaders incident={incident} />
        </div>
      </div>
      <section className="card incident-cause" aria-label={t("Cause")}>
        <p className="incident-cause-text">{cause(incident)}</p>
        <dl className="facts">
          <Fact name={t("Began, first failing check")}>
            <Clock at={incident.began_at} dated />
          </Fact>
          <Fact name={t("Confirmed")}>
            <Clock at={incident.opened_at} dated />
          </Fact>
          {incident.regions.length > 0 && <Fact name={t("Seen from")}>{listed(incident.regions)}</Fact>}
          {incident.acknowledged_at && (
            <Fact name={t("Acknowledged")}>
              <Rich
                text="{who}, {time}"
                who={actorWord(incident.acknowledged_by, self)}
                time={<Clock at={incident.acknowledged_at} dated />}
              />
            </Fact>
          )}
          {incident.resolved_at && (
            <Fact name={t("Over")}>
              <Clock at={incident.resolved_at} dated />
            </Fact>
          )}
        </dl>
      </section>
      <div className={evidence.isLoading ? "columns-2 holds" : "columns-2"}>
        <Timeline lines={lines} cut={cutOf(incident)} target={incident.target_id} />
        <IncidentActions incident={incident} />
      </div>
      {/* Nobody knows how high it will be: what people act on comes before it. */}
      {incident.target_id > 0 && <ChangesCard incident={incident} />}
      {incident.group_id !== null && <Group id={incident.group_id} self={incident.id} />}
    </>
  );
}

function Fact({ name, children }: { name: string; children: React.ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** Other incidents with the same cause. */
function Group({ id, self }: { id: number; self: number }) {
  const every = useIncidentsEvery();
  const group = useQuery({
    queryKey: ["incidents", "group", id],
    queryFn: () => incidentApi.list({ group_id: id, limit: 200 }),
    refetchInterval: every,
  });
  const members = group.data?.items.filter((one) => one.id !== self) ?? [];
  return (
    <section className="card" aria-labelledby="group">
      <div className="card-head">
        <h2 id="group">{t("With the same cause")}</h2>
        <span className="muted">{t("told together, as one")}</span>
      </div>
      {group.error && !group.data && <ErrorNote error={group.error} onRetry={() => void group.refetch()} />}
      {group.isPending && <div className="skeleton chart-skeleton" />}
      {group.data && members.length === 0 && <p className="pad muted">{t("No other incident has this cause yet.")}</p>}
      <ul className="incidents">
        {members.map((one) => (
          <IncidentRow key={one.id} incident={one} />
        ))}
      </ul>
      {group.data?.next_cursor && <p className="pad muted">{t("These are the newest 200.")}</p>}
    </section>
  );
}
