import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { incidentApi } from "../api/incidents";
import { useIncidentsEvery } from "../app/openIncidents";
import { type Band, bandsOf } from "./bands";
import { asked, type Zoom } from "./zoom";

const MOST = 200;

/** The incidents of a target that went on in a part of the time. */
export function useIncidentsIn(id: number, span: Zoom | undefined): Band[] {
  const every = useIncidentsEvery();
  const found = useQuery({
    queryKey: ["incidents", "target", id, "in", span?.from, span?.to],
    queryFn: () => incidentApi.list({ target_id: id, ...(span && asked(span)), limit: MOST }),
    enabled: span !== undefined,
    refetchInterval: every,
    placeholderData: keepPreviousData,
  });
  const items = found.data?.items;
  return useMemo(() => bandsOf(items ?? []), [items]);
}
