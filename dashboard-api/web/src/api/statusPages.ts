// Public status pages, and what people write on them.

import { request } from "./client";
import { query } from "./endpoints";
import type { Page as List, State } from "./types";

/** What a component can be said to be, in the words of the API. */
export type PageState = Exclude<State, "paused">;
export type Rule = "worst" | "majority" | "manual";

export interface Component {
  id: number;
  name: string;
  description: string;
  rule: Rule;
  /** Of the rule manual. */
  state: PageState | null;
  target_ids: number[];
  /** Besides, the targets that carry all of these. */
  tags: string[];
  /** Those that carry them now. */
  member_ids: number[];
}

export interface Group {
  /** Empty: no heading. */
  name: string;
  components: Component[];
}

export interface StatusPage {
  id: number;
  slug: string;
  host: string | null;
  published: boolean;
  title: string;
  description: string;
  theme: "auto" | "light" | "dark";
  accent: string | null;
  accent_dark: string | null;
  language: string;
  /** IANA name. */
  zone: string;
  has_password: boolean;
  /** Empty: all addresses. */
  allow: string[];
  show_incidents: boolean;
  subscribe_email: boolean;
  subscribe_webhook: boolean;
  /** Why nobody can subscribe by e-mail, whatever was chosen; null: they can. */
  mail_missing: string | null;
  groups: Group[];
  version: number;
  created_at: string;
  updated_at: string;
}

/** Null goes back to the default; the id of a component that is new is left out. */
export interface StatusPageInput {
  slug?: string;
  host?: string | null;
  published?: boolean;
  title?: string;
  description?: string;
  theme?: StatusPage["theme"];
  accent?: string | null;
  accent_dark?: string | null;
  language?: string;
  zone?: string;
  password?: string | null;
  allow?: string[];
  show_incidents?: boolean;
  subscribe_email?: boolean;
  subscribe_webhook?: boolean;
  groups?: {
    name: string;
    components: (Omit<Component, "id" | "state" | "member_ids"> & { id?: number; state?: PageState })[];
  }[];
}

export type PostKind = "incident" | "announcement";
export type PostState = "investigating" | "identified" | "monitoring" | "resolved";
export type Impact = "degraded" | "down" | "maintenance";

export interface Post {
  id: number;
  title: string;
  kind: PostKind;
  impact: Impact | null;
  component_ids: number[];
  /** Of ours, that it tells of; null: none, or it was deleted. */
  incident_id: number | null;
  /** That of the newest update. */
  state: PostState;
  /** The oldest first. */
  updates: { at: string; state: PostState; text: string; author: string }[];
  begun_at: string;
  resolved_at: string | null;
  version: number;
}

export interface PostHead {
  title: string;
  kind: PostKind;
  impact: Impact | null;
  component_ids: number[];
}

export interface PostUpdate {
  state: PostState;
  /** Markdown. */
  text: string;
}

/** Somebody who is told what is written on a page. */
export interface Subscriber {
  id: number;
  kind: "email" | "webhook";
  /** The address, or the host of a webhook. */
  to: string;
  language: string;
  /** Empty: all. */
  component_ids: number[];
  created_at: string;
  /** Null: they were asked, and have not said yes. */
  confirmed_at: string | null;
}

const pages = "/api/v1/status-pages";

/** Between two versions a page's targets only become fewer: the two name what it says. */
export const tagOf = (page: StatusPage): string =>
  `${page.version}.${page.groups.flatMap((group) => group.components).reduce((n, c) => n + c.target_ids.length, 0)}`;

export const pagesApi = {
  list: () => request<List<StatusPage>>(`${pages}?limit=1000`),
  get: (id: number) => request<StatusPage>(`${pages}/${id}`),
  create: (body: StatusPageInput) => request<StatusPage>(pages, { method: "POST", body }),
  update: (id: number, body: StatusPageInput, ifVersion: string) =>
    request<StatusPage>(`${pages}/${id}`, { method: "PATCH", body, ifVersion }),
  remove: (id: number) => request<void>(`${pages}/${id}`, { method: "DELETE" }),

  posts: (id: number, cursor: string | null = null) =>
    request<List<Post>>(`${pages}/${id}/posts${query({ limit: 50, cursor })}`),
  post: (id: number, post: number) => request<Post>(`${pages}/${id}/posts/${post}`),
  createPost: (id: number, body: PostHead & PostUpdate & { incident_id?: number }) =>
    request<Post>(`${pages}/${id}/posts`, { method: "POST", body: { ...body, impact: body.impact ?? undefined } }),
  updatePost: (id: number, post: number, body: PostHead & { incident_id: number | null }, ifVersion: number) =>
    request<Post>(`${pages}/${id}/posts/${post}`, { method: "PATCH", body, ifVersion }),
  say: (id: number, post: number, body: PostUpdate) =>
    request<Post>(`${pages}/${id}/posts/${post}/updates`, { method: "POST", body }),
  subscribers: (id: number, cursor: string | null = null) =>
    request<List<Subscriber>>(`${pages}/${id}/subscribers${query({ limit: 50, cursor })}`),
  removeSubscriber: (id: number, subscriber: number) =>
    request<void>(`${pages}/${id}/subscribers/${subscriber}`, { method: "DELETE" }),
  removePost: (id: number, post: number) => request<void>(`${pages}/${id}/posts/${post}`, { method: "DELETE" }),
};
