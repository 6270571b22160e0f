import { useQuery } from "@tanstack/react-query";
import { type Incident, incidentApi } from "../api/incidents";
import { affectedBy } from "./readers";

/** The targets of an incident; null while it is asked which they are. */
export function useAffected(incident: Incident | null): number[] | null {
  const id = incident && incident.target_id === 0 ? incident.group_id : null;
  const group = useQuery({
    queryKey: ["incidents", "group", id],
    queryFn: () => incidentApi.list({ group_id: id ?? 0, limit: 200 }),
    enabled: id !== null,
  });
  if (!incident || (id !== null && group.isPending)) return null;
  return affectedBy(incident, group.data?.items ?? []);
}
