import { useSyncExternalStore } from "react";
import type { OverviewSearch } from "../app/router";

/** A filter and an order under a name, kept in this browser. */
export interface View {
  name: string;
  search: Pick<OverviewSearch, "q" | "state" | "sort" | "tag" | "region" | "group">;
}

const key = "probefleet.views";
const changed = "probefleet:views";
const none: View[] = [];

/** What was kept, without what is no view. */
export function readViews(text: string | null): View[] {
  try {
    const all: unknown = JSON.parse(text ?? "[]");
    if (!Array.isArray(all)) return none;
    return all.filter(
      (one): one is View => typeof one?.name === "string" && typeof one.search === "object" && one.search !== null,
    );
  } catch {
    return none;
  }
}

let seen: { text: string | null; views: View[] } = { text: null, views: none };
function current(): View[] {
  let text: string | null = null;
  try {
    text = localStorage.getItem(key);
  } catch {
    // Storage is blocked: there are none.
  }
  if (text !== seen.text) seen = { text, views: readViews(text) };
  return seen.views;
}

function subscribe(listener: () => void): () => void {
  window.addEventListener(changed, listener);
  window.addEventListener("storage", listener);
  return () => {
    window.removeEventListener(changed, listener);
    window.removeEventListener("storage", listener);
  };
}

/** The saved views, and how to save them; a name that is there already is replaced. */
export function useViews(): { views: View[]; save: (view: View) => void; remove: (name: string) => void } {
  const views = useSyncExternalStore(subscribe, current);
  const write = (all: View[]) => {
    try {
      localStorage.setItem(key, JSON.stringify(all));
    } catch {
      // Storage is blocked: nothing is kept.
    }
    window.dispatchEvent(new Event(changed));
  };
  return {
    views,
    save: (view) => write([...views.filter((one) => one.name !== view.name), view]),
    remove: (name) => write(views.filter((one) => one.name !== name)),
  };
}
