import type { FleetRegion, Prober } from "../api/types";
import { duration } from "../ui/words";
import { t } from "../words/t";

const CLOCK_WORTH_SAYING_MS = 2_000; // from then on its /healthz complains, too

/** How far a prober's clock is off, in words; null when it does not say. */
export function clockWords(offsetMs: number | null | undefined): string | null {
  if (offsetMs === null || offsetMs === undefined) return null;
  if (Math.abs(offsetMs) < 1_000) return t("In step with Redis, {n} ms off", { n: Math.abs(offsetMs) });
  const time = duration(Math.abs(offsetMs) / 1000);
  return offsetMs > 0 ? t("{time} ahead of Redis", { time }) : t("{time} behind Redis", { time });
}

const ways: Partial<Record<Prober["breaker"], string>> = { open: "cut_off", half_open: "trying" };

/** How its way to ClickHouse is: what its breaker does counts before what it last saw. */
export function clickhouseWords({ breaker, clickhouse }: Pick<Prober, "breaker" | "clickhouse">): string {
  return t("{state, select, ok {ok} down {down} cut_off {cut off} trying {trying again} other {{state}}}", {
    state: ways[breaker] ?? clickhouse,
  });
}

export function canaryWords({ state, answered, all }: Prober["canaries"]): string | null {
  if (state === "off") return t("It has none: every failure is believed");
  if (!state || all === 0) return null;
  const given = { answered, all };
  return state === "bad"
    ? t("{answered, number} of {all, number} answer: what fails there is not believed", given)
    : t("{answered, number} of {all, number} answer", given);
}

const causes: Record<string, string> = {
  drained: t("It was stopped, and had finished what it held"),
  watchdog: t("Its watchdog found a stage without progress"),
  gap: t("It had stood still for longer than others wait for it"),
  spool: t("Its disk could not be written"),
  dependency: t("Something that it needs was missing at start"),
  config: t("Its settings were wrong"),
  failure: t("It failed: its log says why"),
  unresponsive: t("It answered nobody, and was killed"),
};

/** Why the life before this one ended; null when nobody says, or it was the first. */
export function exitWords(last: Prober["last_exit"]): string | null {
  if (!last) return null;
  return last.cause === "signal"
    ? t("Signal {signal} ended it", { signal: last.signal })
    : (causes[last.cause] ?? last.cause);
}

const SILENT_AFTER_S = 6; // as checkstream.HeartbeatTTL

/** Whether nobody else of its region takes checks on. */
export function isLast(region: Pick<FleetRegion, "probers">, prober: Pick<Prober, "name">): boolean {
  const others = region.probers?.filter((one) => one.name !== prober.name) ?? [];
  return others.every((one) => one.age_s >= SILENT_AFTER_S || one.state !== "" || one.drain_asked_at !== null);
}

/** Whether a region's probers beat, and none of them takes checks on. */
export function allDrained(region: Pick<FleetRegion, "live" | "probers">): boolean {
  const live = region.probers?.filter((one) => one.age_s < SILENT_AFTER_S) ?? [];
  return region.live && live.length > 0 && live.every((one) => one.state === "drained");
}

/** What is wrong with a prober itself, to be seen without opening anything. */
export function warnings(prober: Prober): string[] {
  const found: string[] = [];
  const offset = prober.clock_offset_ms ?? 0;
  const clock = clockWords(offset);
  if (Math.abs(offset) > CLOCK_WORTH_SAYING_MS && clock) found.push(t("Its clock: {off}", { off: clock }));
  if (prober.canaries?.state === "bad") found.push(t("Its canaries do not answer"));
  return found;
}
