import { useQuery } from "@tanstack/react-query";
import { Navigate, useNavigate, useRouterState } from "@tanstack/react-router";
import { useEffect } from "react";
import { takeNext } from "../account/next";
import { ApiError } from "../api/client";
import { api } from "../api/endpoints";
import { ErrorNote } from "../ui/ErrorNote";
import { Shell } from "./Shell";

/** Lets signed-in people in; sends others to sign in, or to the set-up while there is no account. */
export function Gate() {
  const session = useQuery({
    queryKey: ["session"],
    queryFn: ({ signal }) => api.session(signal),
    staleTime: Number.POSITIVE_INFINITY,
    retry: (failures, error) => !(error instanceof ApiError && error.status === 401) && failures < 2,
  });
  const here = useRouterState({ select: (state) => state.location.href });
  const navigate = useNavigate();
  const signedIn = Boolean(session.data);
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, where somebody comes in
  useEffect(() => {
    const next = signedIn && here === "/" ? takeNext() : undefined;
    if (next) void navigate({ href: next, replace: true });
  }, [signedIn]);
  if (session.data) return <Shell session={session.data} />;
  if (session.error instanceof ApiError && session.error.status === 401) {
    if (session.error.problem.setup_needed) return <Navigate to="/setup" replace />;
    return <Navigate to="/login" search={here === "/" ? {} : { next: here }} replace />;
  }
  if (session.error) {
    return (
      <main>
        <ErrorNote error={session.error} onRetry={() => void session.refetch()} />
      </main>
    );
  }
  return null;
}
