import type { Incident, Severity } from "../api/incidents";

/** From when until when an incident went on, in Unix seconds. */
export interface Band {
  from: number;
  /** It goes on. */
  to: number | null;
  severity: Severity;
}

/** The worst last, so that it is drawn above the others. */
export function bandsOf(incidents: readonly Incident[]): Band[] {
  const ranks: Record<Severity, number> = { no_data: 0, degraded: 1, down: 2 };
  return incidents
    .map(({ began_at, resolved_at, severity }) => ({
      from: Date.parse(began_at) / 1000,
      to: resolved_at === null ? null : Date.parse(resolved_at) / 1000,
      severity,
    }))
    .sort((a, b) => ranks[a.severity] - ranks[b.severity] || a.from - b.from);
}

/** What of it is within, and whether its beginning and its end are. One that goes on reaches until now, and has no end. */
export function clipped(
  band: Band,
  from: number,
  to: number,
  now = Date.now() / 1000,
): { left: number; right: number; begins: boolean; ends: boolean } | null {
  const end = band.to ?? Math.max(now, band.from);
  if (end <= from || band.from >= to) return null;
  return {
    left: Math.max(band.from, from),
    right: Math.min(end, to),
    begins: band.from >= from,
    ends: band.to !== null && end <= to,
  };
}
