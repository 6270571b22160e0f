// What every page asks first is asked before its scripts are there: the answers are under way meanwhile.
// Nothing here says a word: it is imported before the words of the language are.

export const sessionPath = "/api/v1/session";

/** Bars that nobody looks at keep at most so many slots altogether, the newest of each. */
export const SPARE_SLOTS = 10_000;

/** The snapshot with at most so many ticks altogether, but one slot of each target. */
export const snapshotPath = (ticks: number): string => `/api/v1/live/snapshot?ticks=${ticks}`;

/** How many targets of which state there are, and the first rows of the overview when it shows the worst first. */
export const overviewPath = "/api/v1/live/overview?first=40";

const begun = new Map<string, Promise<Response | null>>();

/**
 * Asks for what a page of the dashboard needs, by its path and search; not for those that somebody sees
 * who is not signed in. The overview begins with what is there at once: a snapshot of many targets keeps
 * both sides busy for a while, and is asked for once that is shown.
 */
export function ask(page: string, get: (path: string) => Promise<Response>): void {
  if (/^\/(login|setup|invitation)\b/.test(page)) return;
  for (const path of [sessionPath, page === "/" ? overviewPath : snapshotPath(SPARE_SLOTS)])
    begun.set(
      path,
      get(path).catch(() => null),
    );
}

/** Whether it was asked for, and nobody has taken the answer yet. */
export const isAsked = (path: string): boolean => begun.has(path);

/** The answer that was asked for so early, once; null when there is none, or none that says anything: ask again. */
export async function asked(path: string): Promise<Response | null> {
  const answer = begun.get(path);
  begun.delete(path);
  const response = (await answer) ?? null;
  return response?.ok || response?.status === 401 ? response : null;
}
