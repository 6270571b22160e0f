// How the settings of a target came to be as they are.

import { request } from "./client";
import { query } from "./endpoints";
import type { Page } from "./types";

/** A field that was changed. Null: it was not set. Secrets read "[secret]", before and after. */
export interface RevisionChange {
  pointer: string;
  from: unknown;
  to: unknown;
  /** Only the beginning of a long value was kept. */
  shortened?: boolean;
}

export interface Revision {
  id: number;
  at: string;
  actor: string;
  action: "target.created" | "target.updated" | "heartbeat.rotated";
  /** False: which fields it changed was not kept then. */
  kept: boolean;
  changes: RevisionChange[];
}

export const revisionsOf = (target: number, cursor: string | null) =>
  request<Page<Revision>>(`/api/v1/targets/${target}/revisions${query({ limit: 10, cursor })}`);
