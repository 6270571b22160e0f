import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { ApiError } from "./api/client";
import { Announcer } from "./app/announcer";
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

export function start(): void {
  const root = document.getElementById("root");
  if (!root) return;
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
