import {
  createRootRoute,
  createRoute,
  createRouter,
  Link,
  lazyRouteComponent,
  Outlet,
  redirect,
} from "@tanstack/react-router";
import { useEffect } from "react";
import type { State } from "../api/types";
import { askedAt } from "../known/at";
import { OverviewPage } from "../overview/OverviewPage";
import { browserZone, monthAt, monthPlus } from "../report/month";
import { asked as askedZoom, zoomOf } from "../target/zoom";
import { ErrorNote } from "../ui/ErrorNote";
import { states } from "../ui/words";
import { t } from "../words/t";
import { Gate } from "./Gate";
import { titleOf } from "./titles";

export type Sort = "state" | "name" | "slow";
export interface OverviewSearch {
  q?: string | undefined;
  state?: State | undefined;
  sort?: Sort | undefined;
  /** Several with commas between: what has them all. */
  tag?: string | undefined;
  /** What is checked from it. */
  region?: string | undefined;
  group?: "tag" | undefined;
  /** The dialog to add a target is asked for. */
  add?: "1" | undefined;
}
export const ranges = ["1h", "6h", "24h", "7d", "30d", "90d"] as const;
export type Range = (typeof ranges)[number];

/** What an address says after its question mark. */
type Search = Record<string, unknown>;

/** Those of some fields that say something. */
const texts = <K extends string>(search: Search, ...fields: K[]) =>
  Object.fromEntries(
    fields.flatMap((field) => (typeof search[field] === "string" && search[field] ? [[field, search[field]]] : [])),
  ) as { [field in K]?: string };

/** A field with what is chosen; what is none of the values is the usual. */
const choice = <K extends string, const V>(search: Search, field: K, values: readonly V[]) =>
  (values.includes(search[field] as V) ? { [field]: search[field] } : {}) as { [field in K]?: V };

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
  validateSearch: (search: Search): OverviewSearch => ({
    ...texts(search, "q"),
    ...choice(search, "state", states),
    ...choice(search, "sort", ["name", "slow"]),
    ...texts(search, "tag", "region"),
    ...choice(search, "group", ["tag"]),
    ...(search.add ? { add: "1" } : {}),
  }),
});

/** The instant of the past that is asked for. */
function past(search: Search): { at?: string } {
  const at = askedAt(search.at);
  return at === undefined ? {} : { at };
}

export interface TargetSearch {
  range?: Range;
  /** What the chart of response times shows; else phases. */
  view?: "percentiles" | undefined;
  /** Of the histogram. */
  region?: string | undefined;
  at?: string;
  /** A part of the time that is looked at closely. */
  from?: string;
  to?: string;
}

/** The part of the time that is asked for. */
function closely(search: Search): { from?: string; to?: string } {
  const zoom = zoomOf(search);
  return zoom ? askedZoom(zoom) : {};
}

const target = createRoute({
  getParentRoute: () => app,
  path: "/targets/$id",
  component: lazyRouteComponent(() => import("../target/TargetPage"), "TargetPage"),
  validateSearch: (search: Search): TargetSearch => ({
    ...choice(search, "range", ranges),
    ...closely(search),
    ...choice(search, "view", ["percentiles"]),
    ...texts(search, "region"),
    ...past(search),
  }),
});

export interface RuleSearch {
  /** How much of the past a rule is tried on; else 30. */
  days?: "7" | "90" | undefined;
}

const rule = createRoute({
  getParentRoute: () => app,
  path: "/targets/$id/rule",
  component: lazyRouteComponent(() => import("../rule/RulePage"), "RulePage"),
  validateSearch: (search: Search): RuleSearch => choice(search, "days", ["7", "90"]),
});

export interface FleetSearch {
  /** The period of the ledger; else the last hour. */
  ledger?: "24h" | "7d" | undefined;
}

const fleet = createRoute({
  getParentRoute: () => app,
  path: "/fleet",
  component: lazyRouteComponent(() => import("../fleet/FleetPage"), "FleetPage"),
  validateSearch: (search: Search): FleetSearch => choice(search, "ledger", ["24h", "7d"]),
});

const report = createRoute({
  getParentRoute: () => app,
  path: "/reports/$month",
  component: lazyRouteComponent(() => import("../report/ReportPage"), "ReportPage"),
  validateSearch: (search: Search): { zone?: string } => texts(search, "zone"),
});

/** The last month that is over: what people print. */
const reports = createRoute({
  getParentRoute: () => app,
  path: "/reports",
  beforeLoad: () => {
    throw redirect({ to: "/reports/$month", params: { month: monthPlus(monthAt(Date.now(), browserZone()), -1) } });
  },
});

export interface IncidentSearch {
  state?: "open" | "resolved" | undefined;
  target?: string | undefined;
}

const incidents = createRoute({
  getParentRoute: () => app,
  path: "/incidents",
  component: lazyRouteComponent(() => import("../incidents/IncidentsPage"), "IncidentsPage"),
  validateSearch: (search: Search): IncidentSearch => {
    const found: IncidentSearch = choice(search, "state", ["open", "resolved"]);
    if (/^[1-9]\d*$/.test(String(search.target))) found.target = String(search.target);
    return found;
  },
});

const incident = createRoute({
  getParentRoute: () => app,
  path: "/incidents/$id",
  component: lazyRouteComponent(() => import("../incidents/IncidentPage"), "IncidentPage"),
});

const maintenance = createRoute({
  getParentRoute: () => app,
  path: "/maintenance",
  component: lazyRouteComponent(() => import("../maintenance/MaintenancePage"), "MaintenancePage"),
});

const settings = createRoute({
  getParentRoute: () => app,
  path: "/settings",
  component: lazyRouteComponent(() => import("../settings/SettingsPage"), "SettingsPage"),
});

const channels = createRoute({
  getParentRoute: () => app,
  path: "/settings/channels",
  component: lazyRouteComponent(() => import("../settings/ChannelsPage"), "ChannelsPage"),
});

const channel = createRoute({
  getParentRoute: () => app,
  path: "/settings/channels/$id",
  component: lazyRouteComponent(() => import("../settings/ChannelPage"), "ChannelPage"),
});

const rules = createRoute({
  getParentRoute: () => app,
  path: "/settings/rules",
  component: lazyRouteComponent(() => import("../settings/RulesPage"), "RulesPage"),
  // The dialog to add one is asked for.
  validateSearch: (search: Search): { add?: "1" | undefined } => (search.add ? { add: "1" } : {}),
});

const people = createRoute({
  getParentRoute: () => app,
  path: "/settings/people",
  component: lazyRouteComponent(() => import("../settings/PeoplePage"), "PeoplePage"),
});

const account = createRoute({
  getParentRoute: () => app,
  path: "/settings/account",
  component: lazyRouteComponent(() => import("../settings/YourAccountPage"), "YourAccountPage"),
});

const apiKeys = createRoute({
  getParentRoute: () => app,
  path: "/settings/keys",
  component: lazyRouteComponent(() => import("../settings/KeysPage"), "KeysPage"),
});

export interface AuditSearch {
  actor?: string | undefined;
  action?: string | undefined;
  object?: string | undefined;
}

const audit = createRoute({
  getParentRoute: () => app,
  path: "/settings/audit",
  component: lazyRouteComponent(() => import("../settings/AuditPage"), "AuditPage"),
  validateSearch: (search: Search): AuditSearch => texts(search, "actor", "action", "object"),
});

const transfer = createRoute({
  getParentRoute: () => app,
  path: "/settings/transfer",
  component: lazyRouteComponent(() => import("../settings/TransferPage"), "TransferPage"),
});

const statusPages = createRoute({
  getParentRoute: () => app,
  path: "/settings/pages",
  component: lazyRouteComponent(() => import("../statuspages/PagesPage"), "PagesPage"),
});

const statusPage = createRoute({
  getParentRoute: () => app,
  path: "/settings/pages/$id",
  component: lazyRouteComponent(() => import("../statuspages/EditorPage"), "EditorPage"),
  validateSearch: past,
});

const statusPosts = createRoute({
  getParentRoute: () => app,
  path: "/settings/pages/$id/posts",
  component: lazyRouteComponent(() => import("../statuspages/PostsPage"), "PostsPage"),
});

const statusPostNew = createRoute({
  getParentRoute: () => app,
  path: "/settings/pages/$id/posts/new",
  component: lazyRouteComponent(() => import("../statuspages/NewPostPage"), "NewPostPage"),
  validateSearch: (search: Search): { incident?: string } =>
    /^[1-9]\d*$/.test(String(search.incident)) ? { incident: String(search.incident) } : {},
});

const statusPost = createRoute({
  getParentRoute: () => app,
  path: "/settings/pages/$id/posts/$post",
  component: lazyRouteComponent(() => import("../statuspages/PostPage"), "PostPage"),
});

const statusShare = createRoute({
  getParentRoute: () => app,
  path: "/settings/pages/$id/share",
  component: lazyRouteComponent(() => import("../statuspages/SharePage"), "SharePage"),
});

const login = createRoute({
  getParentRoute: () => root,
  path: "/login",
  component: lazyRouteComponent(() => import("../account/LoginPage"), "LoginPage"),
  validateSearch: (search: Search): { next?: string; problem?: string } => texts(search, "next", "problem"),
});

const setup = createRoute({
  getParentRoute: () => root,
  path: "/setup",
  component: lazyRouteComponent(() => import("../account/SetupPage"), "SetupPage"),
  validateSearch: (search: Search): { token?: string } =>
    typeof search.token === "string" ? { token: search.token } : {},
});

const invitation = createRoute({
  getParentRoute: () => root,
  path: "/invitation",
  component: lazyRouteComponent(() => import("../account/InvitationPage"), "InvitationPage"),
});

function NotFound() {
  useEffect(() => {
    document.title = titleOf("");
  }, []);
  return (
    <main className="empty">
      <h1>{t("There is no such page")}</h1>
      <div className="actions">
        <Link to="/" className="btn">
          {t("Go to the overview")}
        </Link>
      </div>
    </main>
  );
}

/** Search parameters are plain text, so that an address can be read and written by hand. */
export const createAppRouter = () =>
  createRouter({
    routeTree: root.addChildren([
      app.addChildren([
        overview,
        target,
        rule,
        incidents,
        incident,
        maintenance,
        report,
        reports,
        fleet,
        settings,
        channels,
        channel,
        rules,
        people,
        account,
        apiKeys,
        audit,
        transfer,
        statusPages,
        statusPage,
        statusPosts,
        statusPostNew,
        statusPost,
        statusShare,
      ]),
      login,
      setup,
      invitation,
    ]),
    parseSearch: (search) => Object.fromEntries(new URLSearchParams(search)),
    stringifySearch: (search) => {
      const params = new URLSearchParams();
      for (const [key, value] of Object.entries(search)) if (value !== undefined) params.set(key, String(value));
      const text = params.toString();
      return text ? `?${text}` : "";
    },
    scrollRestoration: true,
    // Routes have no loaders: what is fetched ahead is the page's script.
    defaultPreload: "intent",
  });

declare module "@tanstack/react-router" {
  interface Register {
    router: ReturnType<typeof createAppRouter>;
  }
}
