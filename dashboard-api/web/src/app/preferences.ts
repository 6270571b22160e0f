import { useSyncExternalStore } from "react";
import { type Language, languages, pick } from "../words/t";

export type Theme = "system" | "light" | "dark";
export type Zone = "local" | "utc";

const themeKey = "probefleet.theme";
const zoneKey = "probefleet.zone";
const languageKey = "probefleet.language";
const changed = "probefleet:preferences";

function read(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

function write(key: string, value: string): void {
  try {
    localStorage.setItem(key, value);
  } catch {
    // Storage is blocked: the choice lasts as long as the page.
  }
  window.dispatchEvent(new Event(changed));
}

function subscribe(listener: () => void): () => void {
  window.addEventListener(changed, listener);
  window.addEventListener("storage", listener);
  return () => {
    window.removeEventListener(changed, listener);
    window.removeEventListener("storage", listener);
  };
}

export function useTheme(): [Theme, (theme: Theme) => void] {
  const theme = useSyncExternalStore(subscribe, () => {
    const stored = read(themeKey);
    return stored === "light" || stored === "dark" ? stored : "system";
  });
  return [
    theme,
    (next) => {
      if (next === "system") delete document.documentElement.dataset.theme;
      else document.documentElement.dataset.theme = next;
      write(themeKey, next);
    },
  ];
}

export function useZone(): [Zone, (zone: Zone) => void] {
  const zone = useSyncExternalStore(subscribe, () => (read(zoneKey) === "utc" ? "utc" : "local"));
  return [zone, (next) => write(zoneKey, next)];
}

/** The language that was chosen here, else the first of the browser's that there is. */
export function wantedLanguage(): Language {
  return pick([read(languageKey) ?? "", ...navigator.languages]);
}

/** What was chosen, "" for the browser's own; a choice is there from the next load on, which it begins. */
export function useLanguage(): [Language | "", (language: Language | "") => void] {
  const stored = read(languageKey) ?? "";
  return [
    Object.hasOwn(languages, stored) ? (stored as Language) : "",
    (next) => {
      write(languageKey, next);
      window.location.reload();
    },
  ];
}
