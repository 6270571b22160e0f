import { useRouterState } from "@tanstack/react-router";
import { useEffect } from "react";
import { t } from "../words/t";
import { useAnnounce } from "./announcer";
import { useLink, useList, useLive } from "./live";
import { tabIcon } from "./tabIcon";
import { titleOf } from "./titles";
import { CHANGES } from "./voice";

/** Carries the down count to the title and the tab icon, and says state changes aloud. */
export function Presence() {
  const { counts, ready } = useList();
  const { store } = useLive();
  const cutOff = useLink().kind === "reconnecting";
  const page = useRouterState({ select: (state) => state.matches.at(-1) });
  const title = titleOf(page?.fullPath ?? "", page?.params, (id: string) => store.get(Number(id))?.name ?? t("Target"));

  useEffect(() => {
    document.title =
      counts.down > 0 ? t("({n, plural, one {# down} other {# down}}) {title}", { n: counts.down, title }) : title;
  }, [counts.down, title]);

  const icon = tabIcon(counts, ready && !cutOff);
  useEffect(() => showIcon(icon), [icon]);
  useEffect(() => () => showIcon("stale"), []); // signed out nothing is known

  useChangesSaid();
  return null;
}

const showIcon = (name: string) => document.querySelector("link[rel=icon]")?.setAttribute("href", `/icons/${name}.svg`);

/** Says each change of a state aloud. */
export function useChangesSaid(): void {
  const { store } = useLive();
  const announce = useAnnounce();
  useEffect(
    () =>
      store.onTransition(({ name, to }) =>
        announce(
          t(
            "{state, select, up {{name} is now up.} degraded {{name} is now degraded.} down {{name} is now down.} no_data {{name} is now no data.} maintenance {{name} is now maintenance.} other {{name} is now paused.}}",
            { state: to, name },
          ),
          CHANGES,
        ),
      ),
    [store, announce],
  );
}
