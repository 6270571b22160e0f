// How a target is visited and which TLS it must speak, as the form holds it: a part for each kind that has
// settings of its own, and what all kinds have.

import type { DnsPart, TcpPart, TlsPart, WebSocketPart } from "../api/spec";
import type { Kind, Target, TargetInput } from "../api/types";
import { rebased } from "./conflict";
import { textOf, typedOf } from "./escapes";
import type { Errors } from "./form";
import { type HeaderRow, headerErrors, headerRowsOf, headersOf } from "./headers";
import { put, same, secretOf } from "./part";
import { type RequestDraft, requestErrors, requestOf, requestPart } from "./request";

export interface TcpDraft {
  /** As typed: see escapes.ts. */
  send: string;
  secret: boolean;
  /** A secret to send is stored, and stays while no other is typed. */
  stored: boolean;
  starttls: "" | "smtp" | "imap" | "ftp";
}

export interface TlsDraft {
  serverName: string;
  skipVerify: boolean;
  postQuantum: boolean;
}

export interface DnsDraft {
  transport: "" | "tcp" | "tls" | "https";
}

export interface WebSocketDraft {
  send: string;
  headers: HeaderRow[];
  /** Words, with commas or spaces between them. */
  subprotocols: string;
}

/** What the fields hold. Of the parts those count that go with the kind, and TLS where there can be any. */
export interface Terms {
  http: RequestDraft;
  tcp: TcpDraft;
  tls: TlsDraft;
  dns: DnsDraft;
  websocket: WebSocketDraft;
  family: Target["family"];
}

/** Parts of one kind, which is called as they are. */
const ofOneKind = ["http", "tcp", "dns", "websocket"] as const;
export type KindPart = (typeof ofOneKind)[number];
export type Part = KindPart | "tls";

type Saved = Partial<Pick<Target, Part | "family">>;

const tcpOf = (part: TcpPart): TcpDraft => ({
  send: typedOf(part.send ?? ""),
  secret: part.send_secret !== undefined,
  stored: part.send_secret !== undefined,
  starttls: part.starttls ?? "",
});

const tlsOf = (part: TlsPart): TlsDraft => ({
  serverName: part.server_name ?? "",
  skipVerify: part.skip_verify ?? false,
  postQuantum: part.post_quantum ?? false,
});

const webSocketOf = (part: WebSocketPart): WebSocketDraft => ({
  send: part.send ?? "",
  headers: headerRowsOf(part.headers),
  subprotocols: (part.subprotocols ?? []).join(", "),
});

export const termsOf = (saved: Saved | null): Terms => ({
  http: requestOf(saved?.http ?? {}),
  tcp: tcpOf(saved?.tcp ?? {}),
  tls: tlsOf(saved?.tls ?? {}),
  dns: { transport: saved?.dns?.transport ?? "" },
  websocket: webSocketOf(saved?.websocket ?? {}),
  family: saved?.family ?? "",
});

/** What was changed here over another version of the target: see rebased. */
export const termsOver = (mine: Terms, before: Terms, now: Terms): Terms => ({
  http: rebased(mine.http, before.http, now.http),
  tcp: rebased(mine.tcp, before.tcp, now.tcp),
  tls: rebased(mine.tls, before.tls, now.tls),
  dns: rebased(mine.dns, before.dns, now.dns),
  websocket: rebased(mine.websocket, before.websocket, now.websocket),
  family: mine.family === before.family ? now.family : mine.family,
});

function tcpPart(draft: TcpDraft, before: TcpPart | null): TcpPart {
  const part: TcpPart = { ...before };
  const text = textOf(draft.send);
  put(part, "send", draft.secret ? "" : text);
  put(part, "send_secret", draft.secret ? secretOf(text, draft.stored) : "");
  put(part, "starttls", draft.starttls);
  return part;
}

function tlsPart(draft: TlsDraft, before: TlsPart | null): TlsPart {
  const part: TlsPart = { ...before };
  put(part, "server_name", draft.serverName.trim());
  put(part, "skip_verify", draft.skipVerify);
  put(part, "post_quantum", draft.postQuantum);
  return part;
}

function dnsPart(draft: DnsDraft, before: DnsPart | null): DnsPart {
  const part: DnsPart = { ...before };
  put(part, "transport", draft.transport);
  return part;
}

function webSocketPart(draft: WebSocketDraft, before: WebSocketPart | null): WebSocketPart {
  const part: WebSocketPart = { ...before };
  const subprotocols = draft.subprotocols.split(/[\s,]+/).filter(Boolean);
  put(part, "send", draft.send);
  put(part, "headers", headersOf(draft.headers));
  put(part, "subprotocols", subprotocols.length > 0 ? subprotocols : undefined);
  return part;
}

/** Null for a part that says nothing, as the API has it. */
const orNull = <P extends object>(part: P): P | null => (Object.keys(part).length > 0 ? part : null);

export type FoldKind = Exclude<Kind, "heartbeat">;

/**
 * The kinds whose settings are shown: that of the address, and those of parts that are stored though they go
 * with another kind. The server refuses these: they have to be seen to go.
 */
export const foldsOf = (kind: Kind | null, saved: Saved | null): FoldKind[] => [
  ...new Set([
    ...(kind && kind !== "heartbeat" ? [kind] : []),
    ...ofOneKind.filter((part) => saved?.[part] != null && kind !== "heartbeat"),
  ]),
];

/** Whether a visit may come to TLS; a web address may redirect there. */
export function mayBeSecure(kind: Kind | null, url: string, { tcp, dns }: Pick<Terms, "tcp" | "dns">): boolean {
  switch (kind) {
    case "http":
    case "tls":
      return true;
    case "tcp":
      return tcp.starttls !== "";
    case "dns":
      return dns.transport === "tls" || dns.transport === "https";
    case "grpc":
      return /^grpcs:/i.test(url.trim());
    case "websocket":
      return /^wss:/i.test(url.trim());
    default:
      return false;
  }
}

/** Where settings of TLS are shown: also where they are stored and not used, as parts of other kinds are. */
export const showsTls = (kind: Kind | null, url: string, terms: Terms, saved: Saved | null): boolean =>
  mayBeSecure(kind, url, terms) || (kind !== null && saved?.tls != null);

type TermsBody = Pick<TargetInput, Part | "family">;

/** The parts of the body, of those that are shown: nothing of what did not change. */
export function termsBody(
  terms: Terms,
  saved: Saved | null,
  shown: readonly (FoldKind | "tls")[],
): { body: TermsBody; errors: Errors } {
  const was = termsOf(saved);
  const body: TermsBody = {};
  const errors: Errors = {};
  const changed = (part: Part) => shown.includes(part) && !same(terms[part], was[part]);
  if (changed("http")) {
    body.http = orNull(requestPart(terms.http, saved?.http ?? null));
    Object.assign(errors, requestErrors(terms.http));
  }
  if (changed("tcp")) body.tcp = orNull(tcpPart(terms.tcp, saved?.tcp ?? null));
  if (changed("tls")) body.tls = orNull(tlsPart(terms.tls, saved?.tls ?? null));
  if (changed("dns")) body.dns = orNull(dnsPart(terms.dns, saved?.dns ?? null));
  if (changed("websocket")) {
    body.websocket = orNull(webSocketPart(terms.websocket, saved?.websocket ?? null));
    Object.assign(errors, headerErrors(terms.websocket.headers, "/websocket/headers"));
  }
  if (terms.family !== was.family) body.family = terms.family === "" ? null : terms.family;
  return { body, errors };
}

/** Whether what a fold shows is as it is by default. */
export function isPlain(terms: Terms, of: FoldKind, all: { tls: boolean; family: boolean }): boolean {
  const plain = termsOf(null);
  const parts: Part[] = [...ofOneKind.filter((part) => part === of), ...(all.tls ? (["tls"] as const) : [])];
  return parts.every((part) => same(terms[part], plain[part])) && !(all.family && terms.family !== "");
}
