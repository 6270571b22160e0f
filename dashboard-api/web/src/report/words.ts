import type { Figures, Report, ReportTarget } from "../api/types";
import { count, duration, percent, plural } from "../ui/words";

/** Decimals of percentages, as the API has them. */
const digits = 3;

/** How certain the uptime is: what it would be if everything that was not measured had been down, or up. */
export function bounds(f: Figures): string {
  if (f.low === null || f.high === null || f.low === f.high) return "";
  return `between ${percent(f.low, digits)} and ${percent(f.high, digits)}`;
}

export const uptimeText = (f: Figures): string => {
  if (f.uptime_percent === null) return "–";
  return f.uptime === 1 ? "100%" : `${f.uptime_percent}%`;
};

export function measured(f: Figures): string {
  if (f.planned === 0) return "nothing was due";
  return f.checks === 0 ? "nothing was measured" : plural(f.checks, "check");
}

/** A duration whose numbers stay with their units. */
const lasting = (minutes: number): string => duration(minutes * 60).replace(/ (?=\D)/g, "\u00a0");

export const downtime = (minutes: number): string => (minutes === 0 ? "none" : lasting(minutes));

/** How often a target was down. */
export function times(target: ReportTarget): string {
  const n = target.incidents.length;
  if (n === 0) return target.folded.checks > 0 ? "never down" : "";
  const longest = Math.max(...target.incidents.map((one) => one.downtime_minutes));
  return n === 1 ? "once" : `${count(n)} times, at most ${lasting(longest)}`;
}

/** The month in one sentence. */
export function sentence(report: Report): string {
  const down = report.targets.filter((t) => t.folded.down > 0);
  const minutes = down.reduce((sum, t) => sum + t.folded.downtime_minutes, 0);
  const all = plural(report.targets.length, "target");
  if (report.targets.every((t) => t.folded.checks === 0)) return `${all}. Nothing was measured.`;
  if (down.length === 0) return `${all}. None was down.`;
  return `${all}. ${count(down.length)} ${down.length === 1 ? "was" : "were"} down, for ${duration(minutes * 60)} in all.`;
}

/** By name, as people look them up on paper. */
export const byName = (targets: readonly ReportTarget[]): ReportTarget[] =>
  targets.toSorted((a, b) => a.name.localeCompare(b.name, "en", { numeric: true }) || a.target_id - b.target_id);
