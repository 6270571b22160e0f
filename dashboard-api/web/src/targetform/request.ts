import type { HttpPart, RequestHeader } from "../api/spec";
import type { Target, TargetInput } from "../api/types";
import { t } from "../words/t";
import type { Errors } from "./form";

/** What stands for a stored secret, in what is read and what is written. */
const KEPT = "[secret]";

/** One row of the headers, as typed. */
export interface HeaderRow {
  key: number;
  name: string;
  value: string;
  secret: boolean;
  /** A secret of it is stored, and stays while no other is typed. */
  stored: boolean;
}

export type Sign = "none" | "basic" | "bearer";

/** What the fields of a request hold. Of the ways to sign in the one that `sign` names counts. */
export interface RequestDraft {
  method: string;
  headers: HeaderRow[];
  body: string;
  bodySecret: boolean;
  bodyStored: boolean;
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
  family: "" | "4" | "6";
}

const rowOf = (header: RequestHeader, key: number): HeaderRow => ({
  key,
  name: header.name,
  value: header.value ?? "",
  secret: header.secret !== undefined,
  stored: header.secret !== undefined,
});

export const newRow = (rows: readonly HeaderRow[]): HeaderRow => ({
  key: Math.max(-1, ...rows.map((row) => row.key)) + 1,
  name: "",
  value: "",
  secret: false,
  stored: false,
});

export function requestOf(target: Pick<Target, "http" | "family"> | null): RequestDraft {
  const http: HttpPart = target?.http ?? {};
  return {
    method: http.method ?? "",
    headers: (http.headers ?? []).map(rowOf),
    body: http.body ?? "",
    bodySecret: http.body_secret !== undefined,
    bodyStored: http.body_secret !== undefined,
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
    family: target?.family ?? "",
  };
}

export const isBlank = (row: HeaderRow): boolean => row.name.trim() === "" && row.value === "" && !row.stored;

/** Whether a request is as it is by default. */
export const isPlain = (draft: RequestDraft): boolean => same(draft, requestOf(null));

const same = (a: RequestDraft, b: RequestDraft) => JSON.stringify(a) === JSON.stringify(b);

/** A secret as it is sent: what was typed, or that the stored one stays. */
const secretOf = (typed: string, stored: boolean): string => (typed === "" && stored ? KEPT : typed);

/** The part of the document: what the form does not show of it stays as it was. */
function partOf(draft: RequestDraft, before: HttpPart | null): HttpPart {
  const part: HttpPart = { ...before };
  const put = <K extends keyof HttpPart>(name: K, value: HttpPart[K] | "" | false) => {
    if (value === "" || value === false || value === undefined) delete part[name];
    else part[name] = value;
  };
  put("method", draft.method.trim().toUpperCase());
  const headers = draft.headers
    .filter((row) => !isBlank(row))
    .map((row): RequestHeader => {
      const name = row.name.trim();
      return row.secret ? { name, secret: secretOf(row.value, row.stored) } : { name, value: row.value };
    });
  put("headers", headers.length > 0 ? headers : undefined);
  put("body", draft.bodySecret ? "" : draft.body);
  put("body_secret", draft.bodySecret ? secretOf(draft.body, draft.bodyStored) : "");
  put("username", draft.sign === "basic" ? draft.username : "");
  put("password", draft.sign === "basic" ? secretOf(draft.password, draft.passwordStored) : "");
  put("token", draft.sign === "bearer" ? secretOf(draft.token, draft.tokenStored) : "");
  put("redirects", draft.redirects === "" ? undefined : Number(draft.redirects));
  put("cookies", draft.cookies);
  put("compressed", draft.compressed);
  put("version", draft.version === "" ? undefined : draft.version);
  return part;
}

/** The part of the body that is the request: nothing when it did not change. */
export function requestBody(
  draft: RequestDraft,
  before: Pick<Target, "http" | "family"> | null,
): { body: Pick<TargetInput, "http" | "family">; errors: Errors } {
  const body: Pick<TargetInput, "http" | "family"> = {};
  const errors: Errors = {};
  const was = requestOf(before);
  const { family, ...asked } = draft;
  if (!same({ ...asked, family: "" }, { ...was, family: "" })) {
    const part = partOf(draft, before?.http ?? null);
    body.http = Object.keys(part).length > 0 ? part : null;
    let at = 0;
    for (const row of draft.headers) {
      if (isBlank(row)) continue;
      if (row.name.trim() === "") errors[`/http/headers/${at}/name`] = t("Name the header.");
      else if (row.secret && row.value === "" && !row.stored)
        errors[`/http/headers/${at}/secret`] = t("Write the secret.");
      at++;
    }
    if (draft.sign === "basic" && draft.username === "") errors["/http/username"] = t("Write the user name.");
    if (draft.sign === "bearer" && draft.token === "" && !draft.tokenStored)
      errors["/http/token"] = t("Write the token.");
  }
  if (family !== was.family) body.family = family === "" ? null : family;
  return { body, errors };
}
