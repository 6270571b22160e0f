import { useQueries, useQuery } from "@tanstack/react-query";
import { incidentApi } from "../api/incidents";
import type { Post, StatusPage } from "../api/statusPages";
import { IncidentRow } from "../incidents/IncidentRow";
import { t } from "../words/t";
import { targetsOf } from "./draft";
import { during } from "./posts";

const MOST = 5; // targets that are asked for

/** The incident that a post tells of, and what else was found while it went on: for us, not for readers. */
export function OurIncidents({ page, post }: { page: StatusPage; post: Post }) {
  return (
    <>
      {post.incident_id !== null && <ItsIncident id={post.incident_id} />}
      <OthersOfThatTime page={page} post={post} />
    </>
  );
}

function ItsIncident({ id }: { id: number }) {
  const incident = useQuery({ queryKey: ["incidents", "one", id], queryFn: () => incidentApi.get(id) });
  if (!incident.data) return null;
  return (
    <section className="card" aria-labelledby="its">
      <div className="card-head">
        <h2 id="its">{t("The incident it tells of")}</h2>
        <span className="muted">{t("not shown to readers")}</span>
      </div>
      <ul className="incidents">
        <IncidentRow incident={incident.data} />
      </ul>
    </section>
  );
}

function OthersOfThatTime({ page, post }: { page: StatusPage; post: Post }) {
  const targets = targetsOf(page, post.component_ids);
  const found = useQueries({
    queries: targets.slice(0, MOST).map((target_id) => ({
      queryKey: ["incidents", "target", target_id, "post"],
      queryFn: () => incidentApi.list({ target_id, limit: 20 }),
    })),
    combine: (all) =>
      during(
        all.flatMap((one) => one.data?.items ?? []),
        post,
      ).filter((one) => one.id !== post.incident_id),
  });
  if (found.length === 0) return null;
  return (
    <section className="card" aria-labelledby="ours">
      <div className="card-head">
        <h2 id="ours">{t("Our incidents of that time")}</h2>
        <span className="muted">{t("not shown to readers")}</span>
      </div>
      <ul className="incidents">
        {found.map((one) => (
          <IncidentRow key={one.id} incident={one} />
        ))}
      </ul>
    </section>
  );
}
