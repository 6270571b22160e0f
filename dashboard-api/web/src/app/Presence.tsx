import { useRouterState } from "@tanstack/react-router";
import { useEffect } from "react";
import { t } from "../words/t";
import { useAnnounce } from "./announcer";
import { useLink, useList, useLive } from "./live";

const titles: Record<string, string> = {
  "/": t("Overview"),
  "/fleet": t("Fleet"),
  "/incidents": t("Incidents"),
  "/maintenance": t("Maintenance"),
  "/settings": t("Settings"),
  "/settings/channels": t("Channels"),
  "/settings/rules": t("Notification rules"),
  "/settings/pages": t("Status pages"),
};

/** Carries the down count to the title and the tab icon, and says state changes aloud. */
export function Presence() {
  const { counts, ready } = useList();
  const { store } = useLive();
  const cutOff = useLink().kind === "reconnecting";
  const announce = useAnnounce();
  const path = useRouterState({ select: (state) => state.location.pathname });
  const id = Number(/^\/targets\/(\d+)$/.exec(path)?.[1] ?? 0);
  const name = id ? (store.get(id)?.name ?? t("Target")) : (titles[path] ?? "");

  useEffect(() => {
    const title = name ? `${name} · Probefleet` : "Probefleet";
    document.title =
      counts.down > 0 ? t("({n, plural, one {# down} other {# down}}) {title}", { n: counts.down, title }) : title;
  }, [counts.down, name]);

  useEffect(() => {
    const icon =
      cutOff || !ready ? "stale" : counts.down === 0 ? "ok" : `down-${counts.down > 9 ? "many" : counts.down}`;
    document.querySelector<HTMLLinkElement>("link[rel=icon]")?.setAttribute("href", `/icons/${icon}.svg`);
  }, [counts.down, ready, cutOff]);

  useEffect(
    () =>
      store.onTransition(({ name, to }) =>
        announce(
          t(
            "{state, select, up {{name} is now up.} degraded {{name} is now degraded.} down {{name} is now down.} no_data {{name} is now no data.} maintenance {{name} is now maintenance.} other {{name} is now paused.}}",
            { state: to, name },
          ),
        ),
      ),
    [store, announce],
  );
  return null;
}
