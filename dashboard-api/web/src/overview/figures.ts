import type { TargetFigures } from "../api/figures";
import type { Lacks } from "../api/types";

/** For how long no other row must have come before any is asked for: nothing is while somebody scrolls. */
const STILL_MS = 250;
/** So long on the screen a row is asked for though others come and go: the order may change all the time. */
const LONG_MS = 2_000;
const APART_MS = 1_000;
const KEEP_MS = 60_000;
/** What is asked for anyway takes along what would be due so soon. */
const SOON_MS = 10_000;
const RETRY_MS = 30_000;
/** The most that one question may name. */
const BATCH = 100;

type Ask = (ids: number[]) => Promise<Lacks & { items: readonly TargetFigures[] }>;

/** Uptime and certificates of the rows that stand on the screen: a question for all of them, a change for each answer. */
export class FigureKeeper {
  private readonly kept = new Map<number, { figures: TargetFigures | undefined; until: number }>();
  private readonly asking = new Set<number>();
  private readonly listeners = new Set<() => void>();
  private since: ReadonlyMap<number, number> = new Map(); // when each row on the screen came
  private changed = 0; // when another row came last
  private timer: ReturnType<typeof setTimeout> | undefined;
  private next = 0; // no question before
  private answers = 0;
  private until: string | null = null;

  constructor(
    private readonly ask: Ask,
    private readonly hidden: () => boolean = () => document.hidden,
  ) {}

  get = (id: number): TargetFigures | undefined => this.kept.get(id)?.figures;
  /** From when on checks may be missing in these figures; null: none that matter. */
  settledUntil = (): string | null => this.until;
  /** Rises with every answer. */
  version = (): number => this.answers;
  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  /** Says which rows are on the screen now; none: nothing is asked for any more. */
  show(ids: readonly number[]): void {
    const now = Date.now();
    if (ids.some((id) => !this.since.has(id))) this.changed = now;
    this.since = new Map(ids.map((id) => [id, this.since.get(id) ?? now]));
    this.plan();
  }

  /** When a row that came at an instant counts as standing still. */
  private still = (came: number): number => Math.min(this.changed + STILL_MS, came + LONG_MS);

  private due(id: number, came: number): number {
    return this.asking.has(id) ? Infinity : Math.max(this.still(came), this.kept.get(id)?.until ?? 0);
  }

  private plan(): void {
    clearTimeout(this.timer);
    let first = Infinity;
    for (const [id, came] of this.since) first = Math.min(first, this.due(id, came));
    if (first < Infinity) this.timer = setTimeout(this.fire, Math.max(first, this.next) - Date.now());
  }

  private fire = (): void => {
    const now = Date.now();
    if (this.hidden()) {
      this.timer = setTimeout(this.fire, APART_MS);
      return;
    }
    this.next = now + APART_MS;
    const ids = [...this.since].flatMap(([id, came]) =>
      this.still(came) <= now && this.due(id, came) <= now + SOON_MS ? [id] : [],
    );
    for (let at = 0; at < ids.length; at += BATCH) void this.fill(ids.slice(at, at + BATCH));
    this.plan();
  };

  private async fill(ids: number[]): Promise<void> {
    for (const id of ids) this.asking.add(id);
    try {
      const { items, settled_until = null } = await this.ask(ids);
      this.until = settled_until;
      const until = Date.now() + KEEP_MS;
      const found = new Map(items.map((one) => [one.target_id, one]));
      for (const id of ids) this.kept.set(id, { figures: found.get(id), until });
    } catch {
      // What there was stays for now.
      const until = Date.now() + RETRY_MS;
      for (const id of ids) this.kept.set(id, { figures: this.get(id), until });
    }
    for (const id of ids) this.asking.delete(id);
    for (const [id, one] of this.kept) if (one.until < Date.now() && !this.since.has(id)) this.kept.delete(id);
    this.answers++;
    for (const listener of this.listeners) listener();
    this.plan();
  }
}

/** Less than half of what was planned was measured: no number says how it was. */
export const known = (f: {
  uptime: number | null;
  coverage: number | null;
}): f is { uptime: number; coverage: number } => f.uptime !== null && f.coverage !== null && f.coverage >= 0.5;

/** So few days before its end somebody should look after a certificate. */
const FEW_DAYS = 14;

/** The whole days that a certificate has left, below zero when it has ended, and whether those are few. */
export function daysLeft(notAfter: string, now: number): { days: number; few: boolean } {
  const days = Math.floor((Date.parse(notAfter) - now) / 86_400_000);
  return { days, few: days <= FEW_DAYS };
}
