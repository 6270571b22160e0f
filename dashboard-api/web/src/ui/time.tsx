import { useSyncExternalStore } from "react";
import { useLive } from "../app/live";
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
      return now;
    },
  };
})();

/** The time by the server's clock, in whole seconds; renders again every second. */
export function useNow(): number {
  const { store } = useLive();
  return useSyncExternalStore(clock.subscribe, () => {
    const now = store.serverTime(clock.now());
    return now - (now % 1000);
  });
}

/** The day that it is in the chosen zone, by the server's clock; renders again when another one begins. */
export function useToday(): string {
  const { store } = useLive();
  const [zone] = useZone();
  return useSyncExternalStore(clock.subscribe, () => dayOf(store.serverTime(clock.now()), zone));
}

/** Whether an instant has passed by the server's clock; renders again when it has. */
export function usePassed(at: number): boolean {
  const { store } = useLive();
  return useSyncExternalStore(clock.subscribe, () => store.serverTime(clock.now()) >= at);
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

/** A day of a zone, to compare with others. */
export function dayOf(at: number | string, zone: Zone): string {
  const date = new Date(at);
  return zone === "utc" ? date.toISOString().slice(0, 10) : date.toDateString();
}

const dayFormats = {
  local: new Intl.DateTimeFormat(locale(), { ...options, year: undefined }),
  utc: new Intl.DateTimeFormat(locale(), { ...options, year: undefined, timeZone: "UTC" }),
};

/** The time of day; of another day than today with its date. */
export const dayTime = (at: number, zone: Zone, today: string): string =>
  (dayOf(at, zone) === today ? clockFormats : dayFormats)[zone].format(at);

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

/** The exact instant, in the chosen zone; without its date where that is today's, unless it is `dated`. */
export function Clock({ at, dated = false }: { at: string | number; dated?: boolean }) {
  const [zone] = useZone();
  const ms = typeof at === "number" ? at : Date.parse(at);
  return (
    <time dateTime={new Date(ms).toISOString()} title={bothZones(ms, zone)}>
      {dated ? absolute(ms, zone) : <DayTime at={ms} zone={zone} />}
    </time>
  );
}

const DayTime = ({ at, zone }: { at: number; zone: Zone }) => dayTime(at, zone, useToday());

const bothZones = (ms: number, zone: Zone): string =>
  zone === "utc" ? absolute(ms, "utc") : `${absolute(ms)} (${absolute(ms, "utc")})`;
