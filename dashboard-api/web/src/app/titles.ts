import type { RegisteredRouter } from "@tanstack/react-router";
import { monthName } from "../report/month";
import { t } from "../words/t";

type Title = string | ((params: Record<string, string>, target: (id: string) => string) => string);

/** What the browser's tab says of every page; the name of a target is asked for. A route without a title does not build. */
export const titles: Record<Exclude<keyof RegisteredRouter["routesByPath"], "">, Title> = {
  "/": t("Overview"),
  "/targets/$id": ({ id = "" }, target) => target(id),
  "/targets/$id/rule": ({ id = "" }, target) => `${t("Rule")} · ${target(id)}`,
  "/incidents": t("Incidents"),
  "/incidents/$id": ({ id = "" }) => t("Incident {id}", { id }),
  "/maintenance": t("Maintenance"),
  "/reports": t("Reports"),
  "/reports/$month": ({ month = "" }) => t("Uptime report {month}", { month: monthName(month) }),
  "/fleet": t("Fleet"),
  "/settings": t("Settings"),
  "/settings/channels": t("Channels"),
  "/settings/channels/$id": t("Channels"),
  "/settings/rules": t("Notification rules"),
  "/settings/people": t("People"),
  "/settings/account": t("Your account"),
  "/settings/keys": t("API keys"),
  "/settings/audit": t("Audit log"),
  "/settings/transfer": t("Import and export"),
  "/settings/pages": t("Status pages"),
  "/settings/pages/$id": t("Status page"),
  "/settings/pages/$id/posts": t("Posts"),
  "/settings/pages/$id/posts/new": t("New post"),
  "/settings/pages/$id/posts/$post": t("Edit post"),
  "/settings/pages/$id/share": t("Share"),
  "/login": t("Sign in"),
  "/setup": t("Set up"),
  "/invitation": t("Join"),
};

/** The title of a page by its route; that of what is no page when there is no such route. */
export function titleOf(
  route: string,
  params: Record<string, string> = {},
  target = (_: string) => t("Target"),
): string {
  const title: Title = titles[route as keyof typeof titles] ?? t("There is no such page");
  return `${typeof title === "string" ? title : title(params, target)} · Probefleet`;
}
