// Where somebody wanted to go who signs in somewhere else first: the way back ends at "/".

const key = "probefleet.next";
const AWAY_MS = 15 * 60_000; // who takes longer came for something else

/** Only paths of this page: never another site's address. */
export function localPath(next: string | undefined): string {
  return next?.startsWith("/") && !next.startsWith("//") && !next.includes("\\") ? next : "/";
}

export function keepNext(next: string | undefined, storage: Storage = sessionStorage, now = Date.now()): void {
  try {
    storage.setItem(key, JSON.stringify([now, localPath(next)]));
  } catch {
    // Storage is blocked: the way back ends at the overview.
  }
}

/** What was kept, once. */
export function takeNext(storage: Storage = sessionStorage, now = Date.now()): string | undefined {
  try {
    const [at, next] = JSON.parse(storage.getItem(key) ?? "[]");
    storage.removeItem(key);
    return now - at < AWAY_MS ? localPath(String(next)) : undefined;
  } catch {
    return undefined;
  }
}
