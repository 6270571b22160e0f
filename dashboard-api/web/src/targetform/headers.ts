import type { RequestHeader } from "../api/spec";
import { t } from "../words/t";
import type { Errors } from "./form";
import { secretOf } from "./part";

/** One row of the headers, as typed. */
export interface HeaderRow {
  key: number;
  name: string;
  value: string;
  secret: boolean;
  /** A secret of it is stored, and stays while no other is typed. */
  stored: boolean;
}

/** The list that rows belong to, as the server points at it. */
export type HeaderList = "/http/headers" | "/websocket/headers";

export const headerRowsOf = (headers: readonly RequestHeader[] | undefined): HeaderRow[] =>
  (headers ?? []).map((header, key) => ({
    key,
    name: header.name,
    value: header.value ?? "",
    secret: header.secret !== undefined,
    stored: header.secret !== undefined,
  }));

export const newRow = (rows: readonly HeaderRow[]): HeaderRow => ({
  key: Math.max(-1, ...rows.map((row) => row.key)) + 1,
  name: "",
  value: "",
  secret: false,
  stored: false,
});

/** The rows that are sent, as the server counts them: all but those without a word. */
export const sentRows = (rows: readonly HeaderRow[]): HeaderRow[] =>
  rows.filter((row) => row.name.trim() !== "" || row.value !== "" || row.stored);

/** The headers as they are written; undefined without any. */
export function headersOf(rows: readonly HeaderRow[]): RequestHeader[] | undefined {
  const headers = sentRows(rows).map((row): RequestHeader => {
    const name = row.name.trim();
    if (row.secret) return { name, secret: secretOf(row.value, row.stored) };
    return row.value === "" ? { name } : { name, value: row.value };
  });
  return headers.length > 0 ? headers : undefined;
}

/** What is missing, each at its field. */
export function headerErrors(rows: readonly HeaderRow[], list: HeaderList): Errors {
  const errors: Errors = {};
  for (const [at, row] of sentRows(rows).entries()) {
    if (row.name.trim() === "") errors[`${list}/${at}/name`] = t("Name the header.");
    else if (row.secret && row.value === "" && !row.stored) errors[`${list}/${at}/secret`] = t("Write the secret.");
  }
  return errors;
}
