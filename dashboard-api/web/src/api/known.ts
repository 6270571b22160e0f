// Targets and status pages as they were known at an instant.

import { request } from "./client";
import { query } from "./endpoints";
import type { Incident } from "./incidents";
import type { Clause } from "./live.gen";
import type { PageState } from "./statusPages";
import type { State, Status, Stretch } from "./types";

/** What was known of a slot in a region. */
export interface KnownRow {
  region: string;
  /** False: it came, or was revised, later. */
  known: boolean;
  /** Empty of what was not known. */
  status: Status | "";
  failure: string;
  reason: string;
  http_status: number;
  total_us: number;
  known_at: string | null;
  /** When something else was told of the slot, or something at all. */
  later_at: string | null;
}

export interface KnownSlot {
  at: string;
  rows: KnownRow[];
}

export interface KnownRegion {
  region: string;
  status: Status;
  failure: string;
  http_status: number;
  scheduled_at: string;
  total_us: number;
  fresh: boolean;
  known_at: string;
}

/** Something that cannot be told of the past. */
export interface Limit {
  code: string;
  text: string;
}

export interface KnownTarget {
  at: string;
  target: {
    id: number;
    name: string;
    url: string;
    kind: string;
    interval_s: number;
    regions: string[];
    active: boolean;
  };
  state: State;
  since: string | null;
  why: string;
  because?: Clause[];
  basis: "results" | "incident";
  region_states: KnownRegion[];
  /** When it was maintained, as was known then. */
  maintained: Stretch[];
  slots: KnownSlot[];
  incidents: Incident[];
  looked_from: string;
  limits: Limit[];
}

export interface KnownDay {
  name: string;
  state: PageState;
  down_minutes: number;
}

export interface KnownPage {
  at: string;
  title: string;
  state: PageState | "";
  groups: {
    name: string;
    state: string;
    components: {
      id: number;
      name: string;
      description: string;
      state: PageState;
      manual: boolean;
      uptime_percent: string | null;
      days: KnownDay[];
    }[];
  }[];
  events: {
    id: string;
    title: string;
    kind: "incident" | "announcement";
    components: string[];
    state: string;
    begun_at: string;
    resolved_at: string | null;
    updates: { at: string; state: string; text: string }[];
  }[];
  maintenance: { name: string; active: boolean; from: string; to: string; components: string[] }[];
  limits: Limit[];
}

export const knownApi = {
  target: (id: number, at: string, signal: AbortSignal) =>
    request<KnownTarget>(`/api/v1/targets/${id}/known${query({ at })}`, { signal }),
  page: (id: number, at: string, signal: AbortSignal) =>
    request<KnownPage>(`/api/v1/status-pages/${id}/known${query({ at })}`, { signal }),
};
