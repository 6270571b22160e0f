import { type InfiniteData, type QueryClient, useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { type Incident, type IncidentState, incidentApi } from "../api/incidents";
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
  const queries = useQueryClient();
  const here = new Set(items.map(idOf));
  return (
    <section className={list.isPending ? "card holds" : "card"} aria-label={title} data-incidents={state}>
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
      {list.data && items.length === 0 && (state === "open" && asOf !== null ? <NotKnown /> : empty)}
      <ul className="incidents" {...held.holds}>
        {held.items.map((incident) => (
          <IncidentRow key={incident.id} incident={here.has(incident.id) ? incident : latest(queries, incident)} />
        ))}
      </ul>
      <Older of={list} />
    </section>
  );
}

/** What has left the list of open ones while somebody held it is over: as the list of those has it. */
function latest(queries: QueryClient, incident: Incident): Incident {
  const lists = queries.getQueriesData<InfiniteData<{ items: Incident[] }>>({ queryKey: ["incidents", "list"] });
  const all = lists.flatMap(([, list]) => list?.pages.flatMap((page) => page.items) ?? []);
  return all.find(({ id, state }) => id === incident.id && state === "resolved") ?? incident;
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
