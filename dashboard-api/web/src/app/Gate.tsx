import { queryOptions, useQuery } from "@tanstack/react-query";
import { useRouter } from "@tanstack/react-router";
import { useEffect } from "react";
import { takeNext } from "../account/next";
import { ApiError } from "../api/client";
import { api } from "../api/endpoints";
import { ErrorNote } from "../ui/ErrorNote";
import { Shell } from "./Shell";

/** Who is signed in. */
export const sessionQuery = queryOptions({
  queryKey: ["session"],
  queryFn: ({ signal }) => api.session(signal),
  staleTime: Number.POSITIVE_INFINITY,
  retry: (failures, error) => !(error instanceof ApiError && error.status === 401) && failures < 2,
});

/** Lets signed-in people in; sends others to sign in, or to the set-up while there is no account. */
export function Gate() {
  const session = useQuery(sessionQuery);
  const router = useRouter();
  const signedIn = Boolean(session.data);
  const refused = session.error instanceof ApiError && session.error.status === 401 ? session.error : undefined;
  // Once for each answer of the server, with the address of that moment: whoever followed the address here
  // would see the one of the login page next, and go there again and again.
  useEffect(() => {
    const { href } = router.latestLocation;
    if (signedIn) {
      const next = href === "/" ? takeNext() : undefined;
      if (next) void router.navigate({ href: next, replace: true });
    } else if (refused?.problem.setup_needed) {
      void router.navigate({ to: "/setup", replace: true });
    } else if (refused) {
      void router.navigate({ to: "/login", search: href === "/" ? {} : { next: href }, replace: true });
    }
  }, [router, signedIn, refused]);
  if (session.data) return <Shell session={session.data} />;
  if (refused) return null;
  if (session.error) {
    return (
      <main>
        <ErrorNote error={session.error} onRetry={() => void session.refetch()} />
      </main>
    );
  }
  return null;
}
