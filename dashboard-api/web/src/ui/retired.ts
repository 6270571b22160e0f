import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { api } from "../api/endpoints";
import type { RegionPlan } from "../api/types";

/** Every region there is or was. */
export function useRegionPlans() {
  return useQuery({ queryKey: ["regions"], queryFn: api.regions, staleTime: 60_000 });
}

const none: RegionPlan[] = [];

/** The regions of which nothing is planned any more: what is shown of them is history. */
export function useRetired(): Set<string> {
  const items = useRegionPlans().data?.items ?? none;
  return useMemo(() => new Set(items.filter((r) => r.state === "retired").map((r) => r.region)), [items]);
}
