// When a target is down and when people hear of it; what is left out is the default.

export interface Policy {
  quorum?: { rule?: "majority" | "count" | "all"; count?: number; at_least?: number; firm?: boolean };
  down_after?: number;
  up_after?: number;
  for_s?: number;
  open_on?: "down" | "degraded";
  degraded?: { latency_ms?: number; certificate_days?: number; ignore_minority?: boolean };
  flapping?: { off?: boolean; half_life_s?: number; begin?: number; end?: number };
}

export interface ReplayFigures {
  incidents: number;
  pages: number;
  /** Pages about an outage that was very short, or that only one of several regions saw. */
  false_alarms: number;
  /** From the first failing slot until the page; null without pages. */
  delay_p50_s: number | null;
  delay_p99_s: number | null;
  delay_most_s: number | null;
  downtime_s: number;
  still_open: number;
}

export interface ReplayedIncident {
  first_slot: string;
  began_at: string;
  /** Null: it was open at the end. */
  ended_at: string | null;
  /** Null: nobody would have been paged. */
  paged_at: string | null;
  severity: "down" | "degraded";
  false_alarm: boolean;
}

export interface ReplayedPolicy extends ReplayFigures {
  policy: Policy;
  items: ReplayedIncident[];
  /** Incidents that are not among the items. */
  left_out: number;
}

export interface Replay {
  from: string;
  to: string;
  /** From when on results are kept. */
  kept_since: string;
  results: number;
  proposed: ReplayFigures;
  current: ReplayFigures;
  targets: {
    target_id: number;
    from: string;
    /** The first result there is; null: none. */
    results_since: string | null;
    results: number;
    proposed: ReplayedPolicy;
    current: ReplayedPolicy;
  }[];
}
