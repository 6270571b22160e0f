import { useInfiniteQuery, useQueries } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { type IncidentState, incidentApi } from "../api/incidents";
import { useIncidentsAsOf, useIncidentsEvery } from "../app/openIncidents";
import { AsOfNote } from "../ui/AsOf";
import { ErrorNote } from "../ui/ErrorNote";
import { Older } from "../ui/Older";
import { StateIcon } from "../ui/StateIcon";
import { useHeld } from "../ui/useHeld";
import { count } from "../ui/words";
import { t } from "../words/t";
import { IncidentRow } from "./IncidentRow";
import { idOf } from "./words";

const PAGE = 25;

/** Incidents in one state, newest first, with more on demand. */
export function IncidentSection({
  title,
  state,
  target,
  empty,
}: {
  title: string;
  state: IncidentState;
  target: number | undefined;
  empty: ReactNode;
}) {
  const every = useIncidentsEvery();
  const list = useInfiniteQuery({
    queryKey: ["incidents", "list", state, target ?? 0],
    queryFn: ({ pageParam }) =>
      incidentApi.list({ state, limit: PAGE, cursor: pageParam, ...(target ? { target_id: target } : {}) }),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next_cursor,
    refetchInterval: every,
    refetchOnWindowFocus: every !== false,
  });
  const asOf = useIncidentsAsOf(list);
  const items = list.data?.pages.flatMap((page) => page.items) ?? [];
  const held = useHeld(items, idOf, `${state} ${target}`);
  // What has left the list while somebody held it is told as it is now.
  const here = new Set(items.map(idOf));
  const gone = useQueries({
    queries: held.items
      .filter(({ id }) => !here.has(id))
      .map(({ id }) => ({
        queryKey: ["incidents", "one", id],
        queryFn: () => incidentApi.get(id),
        refetchInterval: every,
      })),
  });
  const now = new Map(gone.flatMap(({ data }) => (data ? [[data.id, data]] : [])));
  return (
    <section
      className={list.isPending ? "card holds" : "card"}
      aria-label={title}
      data-incidents={state}
      {...held.card}
    >
      <div className="card-head">
        <h2>{title}</h2>
        {items.length > 0 && (
          <span className="muted">
            {count(items.length)}
            {list.hasNextPage && "+"}
          </span>
        )}
        <AsOfNote at={asOf} />
        {held.chip}
      </div>
      {list.error && !list.data && <ErrorNote error={list.error} onRetry={() => void list.refetch()} />}
      {list.isPending && <IncidentSkeleton />}
      {list.data && held.items.length === 0 && (state === "open" && asOf !== null ? <NotKnown /> : empty)}
      <ul className="incidents">
        {held.items.map((incident) => (
          <IncidentRow key={incident.id} incident={now.get(incident.id) ?? incident} />
        ))}
      </ul>
      <Older of={list} />
    </section>
  );
}

/** In place of "nothing is wrong", which needs an answer of now. */
function NotKnown() {
  return (
    <div className="empty small">
      <StateIcon state="no_data" size={26} />
      <h3>{t("Whether anything is wrong is not known")}</h3>
      <p>{t("What is open now could not be asked for.")}</p>
    </div>
  );
}

function IncidentSkeleton() {
  return (
    <div aria-hidden className="list-skeleton">
      {[52, 38, 60].map((width) => (
        <div key={width} className="incident">
          <span className="skeleton" style={{ width: 22, height: 22 }} />
          <span className="skeleton" style={{ width: `${width}%`, height: 14 }} />
        </div>
      ))}
    </div>
  );
}
