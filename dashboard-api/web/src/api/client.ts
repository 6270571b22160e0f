import { t } from "../words/t";
import { asked } from "./early";
import type { Problem } from "./types";

/** A request that did not succeed, as the server explained it (RFC 9457) or as the network failed. */
export class ApiError extends Error {
  readonly problem: Problem;
  constructor(problem: Problem) {
    super(problem.detail || problem.title);
    this.name = "ApiError";
    this.problem = problem;
  }
  get status(): number {
    return this.problem.status;
  }
  get requestId(): string | undefined {
    return this.problem.request_id;
  }
}

interface Options {
  method?: string;
  body?: unknown;
  /** What a write must find: the ETag. */
  ifVersion?: number | string;
  /** What is known already: the ETag, as it came. Of `requestNew` alone. */
  known?: string | null;
  signal?: AbortSignal;
  /** Lets the request outlive the page: used for a delete that is due when the page closes. */
  keepalive?: boolean;
  timeoutMs?: number;
}

const unreachable: Problem = {
  type: "about:blank",
  title: t("The server cannot be reached"),
  status: 0,
  detail: t("The server did not answer. Check that Probefleet is running and that you are online."),
};

/** An answer with what names it; a value of null: it is the one that is known. */
export interface Named<T> {
  value: T | null;
  tag: string | null;
  /** When that was so, by the server's clock. */
  now: string;
}

/** One JSON request to the API of this origin. Throws ApiError for everything but a 2xx answer. */
export async function request<T>(path: string, options: Options = {}): Promise<T> {
  const response = await answered(path, options);
  if (!response.ok) throw new ApiError(await readProblem(response));
  if (response.status === 204) return undefined as T;
  return (await response.json()) as T;
}

/** The same for who may know the answer already. */
export async function requestNew<T>(path: string, known: string | null): Promise<Named<T>> {
  const response = await answered(path, { known });
  const { headers, status } = response;
  if (!response.ok && status !== 304) throw new ApiError(await readProblem(response));
  const value = status === 304 ? null : ((await response.json()) as T);
  return { value, tag: headers.get("etag"), now: headers.get("x-probefleet-now") ?? "" };
}

async function answered(path: string, options: Options): Promise<Response> {
  const headers: Record<string, string> = { accept: "application/json" };
  const init: RequestInit = { method: options.method ?? "GET", headers, credentials: "same-origin" };
  if (options.body !== undefined) {
    headers["content-type"] = "application/json";
    init.body = JSON.stringify(options.body);
  }
  if (options.ifVersion !== undefined) headers["if-match"] = `"${options.ifVersion}"`;
  if (options.known) headers["if-none-match"] = options.known;
  if (options.keepalive) init.keepalive = true;
  const timeout = AbortSignal.timeout(options.timeoutMs ?? 20_000);
  init.signal = options.signal ? AbortSignal.any([options.signal, timeout]) : timeout;

  try {
    return (init.method === "GET" ? await asked(path) : null) ?? (await fetch(path, init));
  } catch (cause) {
    if (options.signal?.aborted) throw cause;
    throw new ApiError(unreachable);
  }
}

/** Reads what a request that did not succeed was answered. */
export async function readProblem(response: Response): Promise<Problem> {
  const fallback: Problem = {
    type: "about:blank",
    title: response.statusText || t("The server answered {status}", { status: String(response.status) }),
    status: response.status,
  };
  const id = response.headers.get("x-request-id");
  if (id) fallback.request_id = id;
  try {
    const body = (await response.json()) as Partial<Problem>;
    return { ...fallback, ...body, status: response.status };
  } catch {
    return fallback;
  }
}
