import { useSyncExternalStore } from "react";
import { useZone, type Zone } from "../app/preferences";
import { locale, t } from "../words/t";
import { duration } from "./words";

// One timer for the whole page, running only while something shows a relative time.
const clock = (() => {
  const listeners = new Set<() => void>();
  let now = Date.now();
  let timer: ReturnType<typeof setInterval> | undefined;
  const tick = () => {
    now = Date.now();
    for (const listener of listeners) listener();
  };
  return {
    subscribe(listener: () => void) {
      listeners.add(listener);
      timer ??= setInterval(tick, 1000);
      return () => {
        listeners.delete(listener);
        if (listeners.size === 0) {
          clearInterval(timer);
          timer = undefined;
        }
      };
    },
    now: () => {
      if (timer === undefined) now = Date.now();
      return now - (now % 1000);
    },
  };
})();

/** The time in whole seconds; renders again every second. */
export function useNow(): number {
  return useSyncExternalStore(clock.subscribe, clock.now);
}

const options: Intl.DateTimeFormatOptions = {
  day: "2-digit",
  month: "short",
  year: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  hour12: false,
};
const local = new Intl.DateTimeFormat(locale(), options);
const utc = new Intl.DateTimeFormat(locale(), { ...options, timeZone: "UTC" });

export function absolute(at: number | string, zone: Zone = "local"): string {
  const date = new Date(at);
  return zone === "utc" ? `${utc.format(date)} UTC` : local.format(date);
}

const clockFormats = {
  local: new Intl.DateTimeFormat(locale(), { hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false }),
  utc: new Intl.DateTimeFormat(locale(), {
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    hour12: false,
    timeZone: "UTC",
  }),
};

export const clockTime = (at: number | string, zone: Zone): string => clockFormats[zone].format(new Date(at));

/** "3 min ago", with the exact instant in the chosen zone and in UTC on hover. */
export function Ago({ at, bare = false }: { at: string | number; bare?: boolean }) {
  const now = useNow();
  const [zone] = useZone();
  const ms = typeof at === "number" ? at : Date.parse(at);
  const seconds = (now - ms) / 1000;
  const text =
    seconds < 2
      ? bare
        ? duration(1)
        : t("just now")
      : bare
        ? duration(seconds)
        : t("{time} ago", { time: duration(seconds) });
  return (
    <time dateTime={new Date(ms).toISOString()} title={bothZones(ms, zone)}>
      {text}
    </time>
  );
}

/** The exact instant, in the chosen zone. */
export function Clock({ at, dated = false }: { at: string | number; dated?: boolean }) {
  const [zone] = useZone();
  const ms = typeof at === "number" ? at : Date.parse(at);
  return (
    <time dateTime={new Date(ms).toISOString()} title={bothZones(ms, zone)}>
      {dated ? absolute(ms, zone) : clockTime(ms, zone)}
    </time>
  );
}

const bothZones = (ms: number, zone: Zone): string =>
  zone === "utc" ? absolute(ms, "utc") : `${absolute(ms)} (${absolute(ms, "utc")})`;
