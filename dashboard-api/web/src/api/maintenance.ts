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
  ended_at: string | null;
  created_at: string;
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

export const maintenanceApi = {
  list: (cursor: string | null) =>
    request<Page<MaintenanceWindow>>(`/api/v1/maintenance-windows${query({ limit: 1000, cursor })}`),
  create: (body: MaintenanceInput) =>
    request<MaintenanceWindow>("/api/v1/maintenance-windows", { method: "POST", body }),
  remove: (id: number, keepalive = false) =>
    request<void>(`/api/v1/maintenance-windows/${id}`, { method: "DELETE", keepalive }),
};
