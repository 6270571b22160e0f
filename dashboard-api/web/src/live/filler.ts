import type { LatestResults } from "../api/types";
import { BAR_SLOTS } from "./history";
import type { LiveStore } from "./store";

const BATCH = 50;
const RETRY_MS = 5_000;

/** Fetches the history of rows that are on the screen and lack it, at most 50 targets a request. */
export class HistoryFiller {
  private readonly store: LiveStore;
  private readonly fetchLatest: (ids: number[], n: number) => Promise<LatestResults>;
  private readonly inFlight = new Set<number>();
  private wanted: readonly number[] = [];
  private retry: ReturnType<typeof setTimeout> | undefined;

  constructor(store: LiveStore, fetchLatest: (ids: number[], n: number) => Promise<LatestResults>) {
    this.store = store;
    this.fetchLatest = fetchLatest;
  }

  /** Says which rows are visible; the latest call counts. */
  async want(visible: readonly number[]): Promise<void> {
    this.wanted = visible;
    if (this.retry !== undefined) return;
    const ids = this.store.unfilled(visible).filter((id) => !this.inFlight.has(id));
    for (let i = 0; i < ids.length; i += BATCH) await this.fill(ids.slice(i, i + BATCH));
  }

  private async fill(ids: number[]): Promise<void> {
    const generation = this.store.historyGeneration;
    for (const id of ids) this.inFlight.add(id);
    try {
      const latest = await this.fetchLatest(ids, BAR_SLOTS);
      // A copy shows something, but it lacks what came after it: ask again.
      this.store.mergeLatest(latest, latest.stale_since ? [] : ids, generation);
      if (latest.stale_since) this.later();
    } catch {
      this.later();
    } finally {
      for (const id of ids) this.inFlight.delete(id);
    }
    // A gap while the answer was under way: it may lack what the gap lost.
    if (this.store.historyGeneration !== generation) await this.want(this.wanted);
  }

  private later(): void {
    this.retry ??= setTimeout(() => {
      this.retry = undefined;
      void this.want(this.wanted);
    }, RETRY_MS);
  }
}
