// Times in which targets are maintained.

import { request } from "./client";
import { query } from "./endpoints";
import type { Page } from "./types";

export interface MaintenanceWindow {
  id: number;
  name: string;
  everything: boolean;
  target_id: number | null;
  /** It is for targets with one of these. */
  tags: string[];
  /** By the clock on the wall of the zone, such as 2026-03-29T02:30:00. */
  starts_at: string;
  zone: string;
  duration_s: number;
  /** Empty: once. */
  rrule: string;
  active: boolean;
  /** Null: never again. */
  next_from: string | null;
  next_to: string | null;
  /** It has held, or holds: what it covered stays, whatever becomes of it. */
  begun: boolean;
  ended_at: string | null;
  created_at: string;
  /** Null: it was never changed. */
  changed_at: string | null;
  version: number;
  /** What of it the server cannot read, if so: by that it holds nobody, and it cannot be changed. */
  unreadable?: string;
}

export interface MaintenanceInput {
  name: string;
  everything?: boolean;
  target_id?: number;
  tags?: string[];
  starts_at: string;
  zone: string;
  duration_s: number;
  rrule?: string;
}

/** What is given of it counts from now on; what it is not for any more is given as null. */
export interface MaintenanceChange extends Omit<Partial<MaintenanceInput>, "everything" | "target_id" | "tags"> {
  everything?: boolean | null;
  target_id?: number | null;
  tags?: string[] | null;
}

export const maintenanceApi = {
  list: (cursor: string | null) =>
    request<Page<MaintenanceWindow>>(`/api/v1/maintenance-windows${query({ limit: 1000, cursor })}`),
  create: (body: MaintenanceInput) =>
    request<MaintenanceWindow>("/api/v1/maintenance-windows", { method: "POST", body }),
  update: (id: number, body: MaintenanceChange, ifVersion: number) =>
    request<MaintenanceWindow>(`/api/v1/maintenance-windows/${id}`, { method: "PATCH", body, ifVersion }),
  remove: (id: number, ifVersion: number, keepalive = false) =>
    request<void>(`/api/v1/maintenance-windows/${id}`, { method: "DELETE", ifVersion, keepalive }),
};
