import type { Figures, Report, ReportTarget } from "../api/types";
import { duration, percent } from "../ui/words";
import { locale, t } from "../words/t";

/** Decimals of percentages, as the API has them. */
const digits = 3;

/** How certain the uptime is: what it would be if everything that was not measured had been down, or up. */
export function bounds(f: Figures): string {
  if (f.low === null || f.high === null || f.low === f.high) return "";
  return t("between {low} and {high}", { low: percent(f.low, digits), high: percent(f.high, digits) });
}

const decimals = new Intl.NumberFormat(locale(), { minimumFractionDigits: digits, maximumFractionDigits: digits });

export const uptimeText = (f: Figures): string => {
  if (f.uptime_percent === null) return "–";
  return f.uptime === 1 ? percent(1) : t("{n}%", { n: decimals.format(Number(f.uptime_percent)) });
};

export function measured(f: Figures): string {
  if (f.planned === 0) return t("nothing was due");
  return f.checks === 0 ? t("nothing was measured") : t("{n, plural, one {# check} other {# checks}}", { n: f.checks });
}

/** A duration whose numbers stay with their units. */
const lasting = (minutes: number): string => duration(minutes * 60).replace(/ (?=\P{Nd})/gu, "\u00a0");

export const downtime = (minutes: number): string => (minutes === 0 ? t("none") : lasting(minutes));

/** How often a target was down. */
export function times(target: ReportTarget): string {
  const n = target.incidents.length;
  if (n === 0) return target.folded.checks > 0 ? t("never down") : "";
  const longest = Math.max(...target.incidents.map((one) => one.downtime_minutes));
  return n === 1
    ? t("once")
    : t("{n, plural, one {# time} other {# times}}, at most {longest}", { n, longest: lasting(longest) });
}

/** The month in one sentence. */
export function sentence(report: Report): string {
  const down = report.targets.filter((one) => one.folded.down > 0);
  const minutes = down.reduce((sum, one) => sum + one.folded.downtime_minutes, 0);
  const n = report.targets.length;
  if (report.targets.every((one) => one.folded.checks === 0))
    return t("{n, plural, one {# target} other {# targets}}. Nothing was measured.", { n });
  if (down.length === 0) return t("{n, plural, one {# target} other {# targets}}. None was down.", { n });
  return t(
    "{n, plural, one {# target} other {# targets}}. {down, plural, one {# was} other {# were}} down, for {time} in all.",
    { n, down: down.length, time: duration(minutes * 60) },
  );
}

/** By name, as people look them up on paper. */
export const byName = (targets: readonly ReportTarget[]): ReportTarget[] =>
  targets.toSorted((a, b) => a.name.localeCompare(b.name, locale(), { numeric: true }) || a.target_id - b.target_id);
