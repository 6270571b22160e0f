import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { useLink } from "./live";

/** Asks again, once the connection is back, for what could not be refreshed meanwhile. */
export function useAskAgain(): void {
  const queries = useQueryClient();
  const live = useLink().kind === "live";
  useEffect(() => {
    if (live)
      void queries.refetchQueries({ type: "active", predicate: ({ state }) => Boolean(state.error && state.data) });
  }, [live, queries]);
}
