import type { HttpPart } from "../api/spec";
import { t } from "../words/t";
import type { Errors } from "./form";
import { type HeaderRow, headerErrors, headerRowsOf, headersOf } from "./headers";
import { put, secretOf } from "./part";

export type Sign = "none" | "basic" | "bearer";

/** What the fields of a request hold. Of the ways to sign in the one that `sign` names counts. */
export interface RequestDraft {
  method: string;
  headers: HeaderRow[];
  body: string;
  bodySecret: boolean;
  bodyStored: boolean;
  /** The query has a secret part: query, or the one that is stored. */
  querySecret: boolean;
  query: string;
  queryStored: boolean;
  sign: Sign;
  username: string;
  password: string;
  passwordStored: boolean;
  token: string;
  tokenStored: boolean;
  redirects: string;
  cookies: boolean;
  compressed: boolean;
  version: "" | "2" | "3" | "best";
}

export const requestOf = (http: HttpPart): RequestDraft => ({
  method: http.method ?? "",
  headers: headerRowsOf(http.headers),
  body: http.body ?? "",
  bodySecret: http.body_secret !== undefined,
  bodyStored: http.body_secret !== undefined,
  querySecret: http.query_secret !== undefined,
  query: "",
  queryStored: http.query_secret !== undefined,
  sign: http.token !== undefined ? "bearer" : http.username || http.password !== undefined ? "basic" : "none",
  username: http.username ?? "",
  password: "",
  passwordStored: http.password !== undefined,
  token: "",
  tokenStored: http.token !== undefined,
  redirects: http.redirects === undefined ? "" : String(http.redirects),
  cookies: http.cookies ?? false,
  compressed: http.compressed ?? false,
  version: http.version ?? "",
});

/** The part of the document: what the form does not show of it stays as it was. */
export function requestPart(draft: RequestDraft, before: HttpPart | null): HttpPart {
  const part: HttpPart = { ...before };
  put(part, "method", draft.method.trim().toUpperCase());
  put(part, "headers", headersOf(draft.headers));
  put(part, "body", draft.bodySecret ? "" : draft.body);
  put(part, "body_secret", draft.bodySecret ? secretOf(draft.body, draft.bodyStored) : "");
  put(part, "query_secret", draft.querySecret ? secretOf(draft.query, draft.queryStored) : "");
  put(part, "username", draft.sign === "basic" ? draft.username : "");
  put(part, "password", draft.sign === "basic" ? secretOf(draft.password, draft.passwordStored) : "");
  put(part, "token", draft.sign === "bearer" ? secretOf(draft.token, draft.tokenStored) : "");
  put(part, "redirects", draft.redirects === "" ? undefined : Number(draft.redirects));
  put(part, "cookies", draft.cookies);
  put(part, "compressed", draft.compressed);
  put(part, "version", draft.version);
  return part;
}

/** What is missing, each at its field. */
export function requestErrors(draft: RequestDraft): Errors {
  const errors = headerErrors(draft.headers, "/http/headers");
  if (draft.querySecret && draft.query === "" && !draft.queryStored)
    errors["/http/query_secret"] = t("Write the secret part of the query.");
  // A password alone is somebody's, too: the name may be empty (RFC 7617).
  if (draft.sign === "basic" && draft.username === "" && draft.password === "" && !draft.passwordStored)
    errors["/http/username"] = t("Write the user name.");
  if (draft.sign === "bearer" && draft.token === "" && !draft.tokenStored)
    errors["/http/token"] = t("Write the token.");
  return errors;
}
