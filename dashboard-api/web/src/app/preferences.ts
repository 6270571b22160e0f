import { useSyncExternalStore } from "react";

export type Theme = "system" | "light" | "dark";
export type Zone = "local" | "utc";

const themeKey = "probefleet.theme";
const zoneKey = "probefleet.zone";
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
