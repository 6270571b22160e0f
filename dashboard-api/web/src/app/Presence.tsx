import { useRouterState } from "@tanstack/react-router";
import { useEffect } from "react";
import { stateWords } from "../ui/words";
import { useAnnounce } from "./announcer";
import { useLink, useList, useLive } from "./live";

const titles: Record<string, string> = {
  "/": "Overview",
  "/fleet": "Fleet",
  "/incidents": "Incidents",
  "/maintenance": "Maintenance",
  "/settings": "Settings",
  "/settings/channels": "Channels",
  "/settings/rules": "Notification rules",
  "/settings/pages": "Status pages",
};

/** Carries the down count to the title and the tab icon, and says state changes aloud. */
export function Presence() {
  const { counts, ready } = useList();
  const { store } = useLive();
  const cutOff = useLink().kind === "reconnecting";
  const announce = useAnnounce();
  const path = useRouterState({ select: (state) => state.location.pathname });
  const id = Number(/^\/targets\/(\d+)$/.exec(path)?.[1] ?? 0);
  const name = id ? (store.get(id)?.name ?? "Target") : (titles[path] ?? "");

  useEffect(() => {
    const prefix = counts.down > 0 ? `(${counts.down} down) ` : "";
    document.title = `${prefix}${name ? `${name} · ` : ""}Probefleet`;
  }, [counts.down, name]);

  useEffect(() => {
    const icon =
      cutOff || !ready ? "stale" : counts.down === 0 ? "ok" : `down-${counts.down > 9 ? "many" : counts.down}`;
    document.querySelector<HTMLLinkElement>("link[rel=icon]")?.setAttribute("href", `/icons/${icon}.svg`);
  }, [counts.down, ready, cutOff]);

  useEffect(
    () => store.onTransition((t) => announce(`${t.name} is now ${stateWords[t.to].toLowerCase()}.`)),
    [store, announce],
  );
  return null;
}
