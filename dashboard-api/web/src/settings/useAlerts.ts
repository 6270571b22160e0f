import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { alertApi } from "../api/alerts";

export const useChannels = () => useQuery({ queryKey: ["channels"], queryFn: alertApi.channels });

/** The rules that would tell somebody of a target, by the service; null: one that is not there yet. */
export const useMatchedRules = (id: number | null, tags: readonly string[]) =>
  useQuery({
    queryKey: ["rules", "matched", id, tags],
    queryFn: ({ signal }) => alertApi.matchRules(id, tags, signal),
    placeholderData: keepPreviousData,
    staleTime: 0,
    refetchOnWindowFocus: true, // one is made in another tab
  });
