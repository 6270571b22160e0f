import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { ApiError } from "./api/client";
import { isAsked, sessionPath } from "./api/early";
import { Announcer } from "./app/announcer";
import { sessionQuery } from "./app/Gate";
import { Live, LiveProvider } from "./app/live";
import { createAppRouter } from "./app/router";
import { Toasts } from "./app/toasts";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/controls.css";
import "./styles/surfaces.css";
import "./styles/layers.css";
import "./styles/shell.css";
import "./styles/overview.css";

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      refetchOnWindowFocus: false,
      // What the client did wrong does not get better by asking again.
      retry: (failures, error) =>
        failures < 2 && !(error instanceof ApiError && error.status >= 400 && error.status < 500),
    },
  },
});
const router = createAppRouter();
const live = new Live(() => void queries.resetQueries({ queryKey: ["session"] }));

/** How long the first picture waits for what was asked for early. */
const PATIENCE_MS = 100;

export async function start(): Promise<void> {
  const root = document.getElementById("root");
  if (!root) return;
  // What is there by now is in the first picture: a second one costs as much again.
  const session = isAsked(sessionPath) ? queries.prefetchQuery(sessionQuery) : undefined;
  const early = Promise.allSettled([router.load(), live.begin(), session]);
  await Promise.race([early, new Promise((resolve) => setTimeout(resolve, PATIENCE_MS))]);
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={queries}>
        <LiveProvider live={live}>
          <Announcer>
            <Toasts>
              <RouterProvider router={router} />
            </Toasts>
          </Announcer>
        </LiveProvider>
      </QueryClientProvider>
    </StrictMode>,
  );
}
