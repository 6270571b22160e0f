// People, what they sign in with, keys of programs, and what was done.
import { request } from "./client";
import { query } from "./endpoints";
import type { Page, Session, User } from "./types";

export type Role = User["role"];

/** A user as owners see one. */
export interface Member extends User {
  created_at: string;
  /** Null: in no session that is left. */
  last_seen_at: string | null;
  second_factor: boolean;
  /** Since when there is no way in; null: not so. */
  disabled_at: string | null;
}

export interface Invitation {
  id: number;
  /** Null: for any address. */
  email: string | null;
  role: Role;
  state: "open" | "accepted" | "revoked" | "expired";
  created_by: string;
  created_at: string;
  expires_at: string;
  accepted_at: string | null;
  /** Only in the answer that makes it. */
  link?: string;
}

export interface InvitationInput {
  role: Role;
  email?: string;
  expires_s: number;
  current_password?: CurrentPassword;
}

/** Where somebody is signed in. */
export interface OpenSession {
  id: number;
  current: boolean;
  /** Empty: not known. */
  address: string;
  user_agent: string;
  created_at: string;
  last_used_at: string;
  expires_at: string;
}

export interface SecondFactor {
  enabled: boolean;
  recovery_codes_left: number;
}

/** What an authenticator app is given, once. */
export interface Enrolment {
  secret: string;
  /** otpauth://, for a QR code. */
  url: string;
}

export interface Passkey {
  id: number;
  name: string;
  created_at: string;
  last_used_at: string | null;
  /** Since when it signs nobody in any more: there may be a copy of it. */
  blocked_at: string | null;
}

/** What a browser is asked to make a passkey of. */
export interface Registration {
  options: { publicKey: PublicKeyCredentialCreationOptionsJSON };
  challenge: string;
  expires_at: string;
}

/** The password said again; undefined, and left out, of who has none. */
export type CurrentPassword = string | undefined;

export const scopes = ["read", "targets:write", "incidents:write", "results:write", "admin"] as const;
export type Scope = (typeof scopes)[number];

export interface ApiKey {
  id: number;
  name: string;
  prefix: string;
  role: Role;
  /** Empty: all that the role may. */
  scopes: Scope[];
  /** Null: the installation's. */
  user_id: number | null;
  created_at: string;
  last_used_at: string | null;
  expires_at: string | null;
  /** Only in the answer that makes it. */
  key?: string;
}

export interface KeyInput {
  name: string;
  role?: Role;
  scopes?: Scope[];
  expires_s?: number;
  current_password?: CurrentPassword;
}

/** What ended with a password, beside every other session. */
export interface EndedWithPassword {
  keys_ended: number;
  invitations_withdrawn: number;
}

export interface AuditEntry {
  id: number;
  at: string;
  /** Such as user:1 or key:1; empty: nobody we know. */
  actor: string;
  action: string;
  object: string;
  detail: string;
  operation: string;
  address: string;
  request_id: string;
}

export interface AuditFilter {
  actor?: string | undefined;
  action?: string | undefined;
  object?: string | undefined;
  from?: string | undefined;
  to?: string | undefined;
}

const MOST = 1000;

/** All pages of a list that is short enough to be shown as a whole. */
async function everything<T>(path: string): Promise<T[]> {
  const all: T[] = [];
  let cursor: string | null = null;
  do {
    const page: Page<T> = await request<Page<T>>(`${path}${query({ limit: MOST, cursor })}`);
    all.push(...page.items);
    cursor = page.next_cursor;
  } while (cursor);
  return all;
}

export const accountApi = {
  members: () => everything<Member>("/api/v1/users"),
  setRole: ({ id, version }: Member, role: Role) =>
    request<User>(`/api/v1/users/${id}`, { method: "PATCH", body: { role }, ifVersion: version }),
  disableUser: ({ id, version }: Member, disabled: boolean) =>
    request<User>(`/api/v1/users/${id}`, { method: "PATCH", body: { disabled }, ifVersion: version }),
  removeUser: ({ id, version }: Member) =>
    request<void>(`/api/v1/users/${id}`, { method: "DELETE", ifVersion: version }),

  invitations: () => everything<Invitation>("/api/v1/invitations"),
  invite: (body: InvitationInput) => request<Invitation>("/api/v1/invitations", { method: "POST", body }),
  revokeInvitation: (id: number) => request<void>(`/api/v1/invitations/${id}`, { method: "DELETE" }),

  saveProfile: (
    body: { name?: string; email?: string; current_password?: CurrentPassword },
    ifVersion: number | undefined,
  ) =>
    request<Session>("/api/v1/session/profile", {
      method: "PATCH",
      body,
      ...(ifVersion === undefined ? {} : { ifVersion }),
    }),
  changePassword: (current_password: CurrentPassword, password: string) =>
    request<EndedWithPassword>("/api/v1/session/password", { method: "PUT", body: { current_password, password } }),
  sessions: () => request<Page<OpenSession>>("/api/v1/sessions"),
  endSession: (id: number) => request<void>(`/api/v1/sessions/${id}`, { method: "DELETE" }),
  endOtherSessions: () => request<void>("/api/v1/sessions", { method: "DELETE" }),

  secondFactor: () => request<SecondFactor>("/api/v1/session/second-factor"),
  enrol: (current_password: CurrentPassword) =>
    request<Enrolment>("/api/v1/session/second-factor", { method: "POST", body: { current_password } }),
  confirmFactor: (code: string) =>
    request<{ recovery_codes: string[] }>("/api/v1/session/second-factor:confirm", { method: "POST", body: { code } }),
  removeFactor: (current_password: CurrentPassword) =>
    request<void>("/api/v1/session/second-factor:remove", { method: "POST", body: { current_password } }),

  passkeys: () => request<Page<Passkey>>("/api/v1/session/passkeys"),
  beginPasskey: (current_password: CurrentPassword) =>
    request<Registration>("/api/v1/session/passkeys", { method: "POST", body: { current_password } }),
  addPasskey: (body: { challenge: string; name: string; credential: PublicKeyCredentialJSON }) =>
    request<Passkey>("/api/v1/session/passkeys:finish", { method: "POST", body }),
  renamePasskey: (id: number, name: string) =>
    request<Passkey>(`/api/v1/session/passkeys/${id}`, { method: "PATCH", body: { name } }),
  removePasskey: (id: number, current_password: CurrentPassword) =>
    request<void>(`/api/v1/session/passkeys/${id}:remove`, { method: "POST", body: { current_password } }),

  keys: () => everything<ApiKey>("/api/v1/keys"),
  createKey: (body: KeyInput) => request<ApiKey>("/api/v1/keys", { method: "POST", body }),
  revokeKey: (id: number) => request<void>(`/api/v1/keys/${id}`, { method: "DELETE" }),

  audit: (filter: AuditFilter, limit: number, cursor: string | null) =>
    request<Page<AuditEntry>>(`/api/v1/audit${query({ ...filter, limit, cursor })}`),
};
