import {
  createRootRoute,
  createRoute,
  createRouter,
  Link,
  lazyRouteComponent,
  Outlet,
  redirect,
} from "@tanstack/react-router";
import type { State } from "../api/types";
import { OverviewPage } from "../overview/OverviewPage";
import { browserZone, monthAt, monthPlus } from "../report/month";
import { ErrorNote } from "../ui/ErrorNote";
import { states } from "../ui/words";
import { Gate } from "./Gate";

export type Sort = "state" | "name" | "slow";
export interface OverviewSearch {
  q?: string | undefined;
  state?: State | undefined;
  sort?: Sort | undefined;
}
export const ranges = ["1h", "6h", "24h", "7d"] as const;
export type Range = (typeof ranges)[number];

const root = createRootRoute({
  component: Outlet,
  notFoundComponent: NotFound,
  errorComponent: ({ error, reset }) => (
    <main>
      <ErrorNote error={error} onRetry={reset} />
    </main>
  ),
});

const app = createRoute({ getParentRoute: () => root, id: "app", component: Gate });

const overview = createRoute({
  getParentRoute: () => app,
  path: "/",
  component: OverviewPage,
  validateSearch: (search: Record<string, unknown>): OverviewSearch => {
    const found: OverviewSearch = {};
    if (typeof search.q === "string" && search.q) found.q = search.q;
    if (states.includes(search.state as State)) found.state = search.state as State;
    if (search.sort === "name" || search.sort === "slow") found.sort = search.sort;
    return found;
  },
});

const target = createRoute({
  getParentRoute: () => app,
  path: "/targets/$id",
  component: lazyRouteComponent(() => import("../target/TargetPage"), "TargetPage"),
  validateSearch: (search: Record<string, unknown>): { range?: Range } =>
    ranges.includes(search.range as Range) ? { range: search.range as Range } : {},
});

const rule = createRoute({
  getParentRoute: () => app,
  path: "/targets/$id/rule",
  component: lazyRouteComponent(() => import("../rule/RulePage"), "RulePage"),
});

const fleet = createRoute({
  getParentRoute: () => app,
  path: "/fleet",
  component: lazyRouteComponent(() => import("../fleet/FleetPage"), "FleetPage"),
});

const report = createRoute({
  getParentRoute: () => app,
  path: "/reports/$month",
  component: lazyRouteComponent(() => import("../report/ReportPage"), "ReportPage"),
  validateSearch: (search: Record<string, unknown>): { zone?: string } =>
    typeof search.zone === "string" && search.zone ? { zone: search.zone } : {},
});

/** The last month that is over: what people print. */
const reports = createRoute({
  getParentRoute: () => app,
  path: "/reports",
  beforeLoad: () => {
    throw redirect({ to: "/reports/$month", params: { month: monthPlus(monthAt(Date.now(), browserZone()), -1) } });
  },
});

const login = createRoute({
  getParentRoute: () => root,
  path: "/login",
  component: lazyRouteComponent(() => import("../account/LoginPage"), "LoginPage"),
  validateSearch: (search: Record<string, unknown>): { next?: string } =>
    typeof search.next === "string" ? { next: search.next } : {},
});

const setup = createRoute({
  getParentRoute: () => root,
  path: "/setup",
  component: lazyRouteComponent(() => import("../account/SetupPage"), "SetupPage"),
  validateSearch: (search: Record<string, unknown>): { token?: string } =>
    typeof search.token === "string" ? { token: search.token } : {},
});

function NotFound() {
  return (
    <main className="empty">
      <h1>There is no such page</h1>
      <div className="actions">
        <Link to="/" className="btn">
          Go to the overview
        </Link>
      </div>
    </main>
  );
}

/** Search parameters are plain text, so that an address can be read and written by hand. */
export const createAppRouter = () =>
  createRouter({
    routeTree: root.addChildren([app.addChildren([overview, target, rule, report, reports, fleet]), login, setup]),
    parseSearch: (search) => Object.fromEntries(new URLSearchParams(search)),
    stringifySearch: (search) => {
      const params = new URLSearchParams();
      for (const [key, value] of Object.entries(search)) if (value !== undefined) params.set(key, String(value));
      const text = params.toString();
      return text ? `?${text}` : "";
    },
    scrollRestoration: true,
  });

declare module "@tanstack/react-router" {
  interface Register {
    router: ReturnType<typeof createAppRouter>;
  }
}
