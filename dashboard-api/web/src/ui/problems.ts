import { ApiError } from "../api/client";
import { t } from "../words/t";

/** What is wrong with a form: by JSON pointer, and under "" what belongs to no field. */
export type Problems = Record<string, string>;

export function sentence(text: string): string {
  const trimmed = text.trim();
  const first = trimmed.charAt(0).toUpperCase() + trimmed.slice(1);
  return /[.!?)]$/.test(first) ? first : `${first}.`;
}

/** Every mistake where its pointer says; what no field of `shown` takes goes above the form, with the request's id. */
export function problemsOf(
  error: unknown,
  shown: readonly string[],
  changed = t("Somebody else changed this."),
): Problems {
  if (!(error instanceof ApiError)) return { "": sentence(error instanceof Error ? error.message : String(error)) };
  const { problem } = error;
  const found: Problems = {};
  const put = (pointer: string, message: string) => {
    found[pointer] = found[pointer] ? `${found[pointer]} ${message}` : message;
  };
  for (const { pointer, message } of problem.errors ?? []) {
    const at = shown.filter((field) => pointer === field || pointer.startsWith(`${field}/`));
    const longest = at.sort((a, b) => b.length - a.length)[0];
    put(longest ?? "", sentence(message));
  }
  if (Object.keys(found).length === 0) {
    put(
      "",
      problem.status === 412
        ? `${changed} ${t("Close and open it again.")}`
        : sentence(problem.detail || problem.title),
    );
  }
  if (found[""] && problem.request_id) found[""] = withRequest(found[""], problem.request_id);
  return found;
}

const withRequest = (said: string, id: string): string => t("{said} (request {id})", { said, id });

/** One line for a message at the corner. */
export function briefly(error: unknown): string {
  if (!(error instanceof ApiError)) return error instanceof Error ? error.message : String(error);
  return error.requestId ? withRequest(sentence(error.message), error.requestId) : sentence(error.message);
}
