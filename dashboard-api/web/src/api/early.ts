// What every page asks first is asked before its scripts are there: the answers are under way meanwhile.
// Nothing here says a word: it is imported before the words of the language are.

const session = "/api/v1/session";

/** Bars that nobody looks at keep at most so many slots altogether, the newest of each. */
export const SPARE_SLOTS = 10_000;

/** The snapshot with at most so many ticks altogether, but one slot of each target. */
export const snapshotPath = (ticks: number): string => `/api/v1/live/snapshot?ticks=${ticks}`;

const begun = new Map<string, Promise<Response | null>>();

/** Asks for what a page of the dashboard needs; not for those that somebody sees who is not signed in. */
export function ask(page: string, get: (path: string) => Promise<Response>): void {
  if (/^\/(login|setup|invitation)\b/.test(page)) return;
  for (const path of [session, snapshotPath(SPARE_SLOTS)])
    begun.set(
      path,
      get(path).catch(() => null),
    );
}

/** The answer that was asked for so early, once; null when there is none, or no good one: ask again. */
export async function asked(path: string): Promise<Response | null> {
  const answer = begun.get(path);
  begun.delete(path);
  const response = (await answer) ?? null;
  return response?.ok ? response : null;
}
