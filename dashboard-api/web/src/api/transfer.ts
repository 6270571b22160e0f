import { t } from "../words/t";
import { ApiError, readProblem } from "./client";
import type { Problem } from "./types";

export type Outcome = "created" | "changed" | "unchanged" | "refused";

/** What became of a line of a file, or would. */
export interface ImportLine {
  line: number;
  url: string;
  name: string;
  outcome: Outcome;
  id?: number;
  changes?: { pointer: string; from: unknown; to: unknown }[];
  problem?: Problem;
  /** Of the first few that are visited otherwise: the check that shows what that comes to. */
  preview_check_id?: string;
}

export interface ImportEnd {
  dry_run: boolean;
  created: number;
  changed: number;
  unchanged: number;
  refused: number;
  /** Why nothing more was done. */
  stopped?: Problem;
}

export const exportPath = (format: "json" | "csv"): string => `/api/v1/targets:export?format=${format}`;

/** What is sent of a file: JSON as it is, anything else as CSV. Throws a SyntaxError for JSON that is none. */
export function importBody(text: string, dryRun: boolean): string {
  const trimmed = text.replace(/^\ufeff/, "").trimStart();
  if (!/^[{[]/.test(trimmed)) return JSON.stringify({ csv: text, dry_run: dryRun });
  const read: unknown = JSON.parse(trimmed);
  const file = Array.isArray(read) ? { targets: read } : (read as object);
  return JSON.stringify({ ...file, dry_run: dryRun });
}

/** Gives each line of an answer as it comes, and the last one. An answer without it was broken off. */
export async function readImport(
  body: ReadableStream<Uint8Array>,
  onLine: (line: ImportLine) => void,
): Promise<ImportEnd> {
  const reader = body.pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    const lines = (rest + value).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      if (!line) continue;
      const read = JSON.parse(line) as ImportLine | { complete: ImportEnd };
      if ("complete" in read) return read.complete;
      onLine(read);
    }
  }
  throw new Error(t("The answer broke off. Send the file again: what is done stays done."));
}

/** Sends a file, or only asks what it would come to. */
export async function importTargets(
  text: string,
  dryRun: boolean,
  onLine: (line: ImportLine) => void,
  signal: AbortSignal,
): Promise<ImportEnd> {
  const response = await fetch("/api/v1/targets:import", {
    method: "POST",
    headers: { "content-type": "application/json" },
    credentials: "same-origin",
    body: importBody(text, dryRun),
    signal,
  });
  if (!response.ok || !response.body) throw new ApiError(await readProblem(response));
  return readImport(response.body, onLine);
}
