import { SPARE_SLOTS } from "../api/early";
import type {
  LatestResults,
  LiveTarget,
  Op,
  Overview,
  Region,
  RegionOp,
  Snapshot,
  State,
  Stretch,
  Target,
} from "../api/types";
import { listed } from "../ui/words";
import { t } from "../words/t";
import { BAR_SLOTS, fromLatest, mergeSlots, type SlotView } from "./history";

const SPARE_LEAST = 1;
/** So many rows keep their whole bars after they left the screen. */
const KEPT_ROWS = 300;
/** In a list of so many targets the changes of a moment are published together: each costs a look at all of them. */
const MANY = 500;
const GATHER_MS = 100;
/** And for at least twice as long as the last such look took, up to a limit: on a slow machine, too, people come first. */
const GATHER_SHARE = 2;
const GATHER_MOST_MS = 500;
/** What there is before the first snapshot is not the present for longer. */
const OPENING_MS = 10_000;

/** A target as the server tells it, but for what its bar is made of. */
type Item = Omit<LiveTarget, "ticks" | "maintained"> & { maintained: Stretch[] };

/** A target as the page shows it: the server's word, unless it has gone stale. */
export interface TargetView extends Item {
  slots: readonly SlotView[];
  /** True when the server's state is no longer backed by fresh evidence. */
  stale: boolean;
  /** Client time of the last state change seen on this page, 0 for none. */
  changedAt: number;
}

export interface Transition {
  id: number;
  name: string;
  from: State;
  to: State;
}

export type Counts = Record<State, number>;

/** What the whole list looks like; a new object whenever membership, a state, a name or activity changes. */
export interface ListView {
  /** True once the counts and the first rows, worst first, are there. */
  begun: boolean;
  /** True once everything is. */
  ready: boolean;
  version: number;
  counts: Counts;
  total: number;
  regions: readonly Region[];
  /** Every tag there is, and how many targets have it. */
  tags: ReadonlyMap<string, number>;
}

const none = (): Counts => ({ up: 0, degraded: 0, down: 0, maintenance: 0, no_data: 0, paused: 0 });

const evidence: ReadonlySet<State> = new Set(["up", "degraded", "down"]);

const never: Stretch[] = [];

interface Entry {
  item: Item;
  /** `fresh_until` in ms. */
  until: number;
  view: TargetView;
  filled: number;
}

/**
 * Everything the page knows about targets, independent of any framework. Views
 * are immutable and replaced on change, so a row can compare by identity; one
 * target's change wakes only its own listeners.
 */
export class LiveStore {
  private readonly entries = new Map<number, Entry>();
  private readonly hidden = new Set<number>();
  private readonly assumed = new Map<number, { before: Entry["item"]; shown: Entry["item"] }>();
  private readonly rowListeners = new Map<number, Set<() => void>>();
  private readonly left = new Set<number>(); // rows that were on the screen, the latest last
  private readonly listListeners = new Set<() => void>();
  private readonly transitionListeners = new Set<(t: Transition) => void>();
  private regions: readonly Region[] = [];
  private opening: Overview | undefined; // while it is all there is
  private offset = 0; // server clock minus ours
  private generation = 1; // of history: raised by every gap
  private published = 0; // when the list was, in ms
  private took = 0; // for everybody to take that in
  private publishing: ReturnType<typeof setTimeout> | undefined;
  private list: ListView = {
    begun: false,
    ready: false,
    version: 0,
    counts: none(),
    total: 0,
    regions: [],
    tags: new Map(),
  };

  serverNow(): number {
    return this.serverTime(Date.now());
  }

  /** What the server's clock shows when ours shows this. */
  serverTime(ours: number): number {
    return ours + this.offset;
  }

  setServerTime(serverTime: string): void {
    const server = Date.parse(serverTime);
    if (Number.isFinite(server)) this.offset = server - Date.now();
  }

  /** Takes what there is before the first snapshot; that has all of it, and more. */
  applyOverview(overview: Overview): void {
    if (this.list.ready) return;
    this.setServerTime(overview.now);
    this.regions = overview.regions;
    for (const item of overview.items) this.put(item);
    this.opening = overview;
    this.publishNow();
  }

  applySnapshot(snapshot: Snapshot): void {
    this.opening = undefined;
    this.setServerTime(snapshot.now);
    this.regions = snapshot.regions ?? [];
    const present = new Set(snapshot.items.map((item) => item.id));
    for (const id of this.entries.keys()) if (!present.has(id)) this.drop(id);
    for (const item of snapshot.items) this.put(item);
    this.list = { ...this.list, ready: true };
    this.publishNow();
  }

  applyOps(ops: readonly Op[]): void {
    let structural = false;
    for (const op of ops) {
      structural = (op.item ? this.put(op.item) : this.drop(op.id)) || structural;
    }
    if (structural) this.publishList();
  }

  /** Takes how all regions are. */
  applyRegions(regions: readonly Region[]): void {
    this.regions = regions;
    this.publishNow();
  }

  /** Takes what was told of some regions. */
  applyRegionOps(ops: readonly RegionOp[]): void {
    const regions = new Map(this.regions.map((region) => [region.region, region]));
    for (const { id, item } of ops) {
      if (item) regions.set(id, item);
      else regions.delete(id);
    }
    this.applyRegions([...regions.values()].sort((a, b) => (a.region < b.region ? -1 : 1)));
  }

  /** Shows a target just saved, before the live feed confirms it. */
  applySaved(target: Target): void {
    const old = this.entries.get(target.id)?.item;
    const { id, name, url, kind, interval_s, timeout_ms, regions, tags, parent_id, active } = target;
    const unseen = {
      since: null,
      last_result_at: null,
      fresh_until: null,
      p50_us: null,
      region_states: [],
      state: "no_data" as const,
      why: t("Waiting for the first check."),
      because: [],
    };
    // What was seen of another URL says nothing of this one.
    const seen = old?.url === url && old.kind === kind;
    const base = seen ? old : { maintained: never, ...old, ...unseen };
    const place = { tags: tags ?? [], parent_id: parent_id ?? null };
    const item = { ...base, id, name, url, kind, interval_s, timeout_ms, regions: regions ?? [], ...place, active };
    this.put({ ...turned(item), ticks: [] });
    this.publishList();
  }

  /** Shows many targets as they were asked to be, until `settle` says what became of it. */
  assume(ids: readonly number[], change: Partial<Pick<Target, "active" | "interval_s" | "timeout_ms">>): void {
    for (const id of ids) {
      const entry = this.entries.get(id);
      if (!entry) continue;
      const before = entry.item;
      this.put({ ...turned({ ...before, ...change }), ticks: [] });
      this.assumed.set(id, { before, shown: entry.item });
    }
    this.publishNow();
  }

  /** What was assumed of these has come true, or else is taken back, but for what was told since. */
  settle(ids: readonly number[], stored: boolean): void {
    let back = false;
    for (const id of ids) {
      const was = this.assumed.get(id);
      this.assumed.delete(id);
      if (stored || !was || this.entries.get(id)?.item !== was.shown) continue;
      this.put({ ...was.before, ticks: [] });
      back = true;
    }
    if (back) this.publishNow();
  }

  /** Merges the API's answer; `generation` is the one current when it was asked. */
  mergeLatest(latest: LatestResults, asked: readonly number[], generation: number): void {
    for (const { target_id, results } of latest.items) {
      const entry = this.entries.get(target_id);
      if (!entry) continue;
      const slots = mergeSlots(entry.view.slots, results.map(fromLatest));
      if (slots !== entry.view.slots) this.show(entry, { ...entry.view, slots });
    }
    for (const id of asked) {
      const entry = this.entries.get(id);
      if (entry) entry.filled = generation;
    }
  }

  /** Deltas were missed: every bar must be filled again when next seen. */
  markGap(): void {
    this.generation++;
    this.notifyList();
  }

  get historyGeneration(): number {
    return this.generation;
  }

  unfilled(ids: readonly number[]): number[] {
    return ids.filter((id) => {
      const entry = this.entries.get(id);
      return entry !== undefined && entry.filled !== this.generation;
    });
  }

  /** Turns targets whose evidence has run out into no data, though no message says so. */
  sweep(): void {
    const now = this.serverNow();
    if (this.opening && now - Date.parse(this.opening.now) > OPENING_MS) this.forget();
    let structural = false;
    for (const entry of this.entries.values()) {
      if (!entry.view.stale && isStale(entry.item, entry.until, now)) {
        structural = this.show(entry, this.viewOf(entry.item, entry.until, entry.view, now)) || structural;
      }
    }
    if (structural) this.publishList();
  }

  private forget(): void {
    this.opening = undefined;
    for (const id of this.entries.keys()) this.drop(id);
    this.publishNow();
  }

  hide(id: number): void {
    this.hidden.add(id);
    this.publishNow();
  }

  unhide(id: number): void {
    if (this.hidden.delete(id)) this.publishNow();
  }

  hideAll(ids: readonly number[]): void {
    for (const id of ids) this.hidden.add(id);
    this.publishNow();
  }

  unhideAll(ids: readonly number[]): void {
    for (const id of ids) this.hidden.delete(id);
    this.publishNow();
  }

  get(id: number): TargetView | undefined {
    return this.hidden.has(id) ? undefined : this.entries.get(id)?.view;
  }

  getList(): ListView {
    return this.list;
  }

  all(): TargetView[] {
    const views: TargetView[] = [];
    for (const [id, entry] of this.entries) if (!this.hidden.has(id)) views.push(entry.view);
    return views;
  }

  subscribeRow(id: number, listener: () => void): () => void {
    const listeners = this.rowListeners.get(id) ?? new Set();
    this.rowListeners.set(id, listeners);
    listeners.add(listener);
    this.left.delete(id);
    return () => {
      listeners.delete(listener);
      if (listeners.size > 0 || this.rowListeners.get(id) !== listeners) return;
      this.rowListeners.delete(id);
      this.left.add(id);
      const [longest] = this.left;
      if (longest !== undefined && this.left.size > KEPT_ROWS) this.left.delete(longest);
    };
  }

  subscribeList(listener: () => void): () => void {
    this.listListeners.add(listener);
    return () => this.listListeners.delete(listener);
  }

  onTransition(listener: (t: Transition) => void): () => void {
    this.transitionListeners.add(listener);
    return () => this.transitionListeners.delete(listener);
  }

  /** Returns whether the list as a whole changed: membership, state, name, URL, activity, tags or parent. */
  private put(told: LiveTarget): boolean {
    const now = this.serverNow();
    const { ticks } = told;
    // One literal for all of them: thousands of objects of one shape are made faster than copies by parts.
    const item: Entry["item"] = {
      id: told.id,
      name: told.name,
      url: told.url,
      kind: told.kind,
      interval_s: told.interval_s,
      timeout_ms: told.timeout_ms,
      regions: told.regions ?? [],
      tags: told.tags ?? [],
      parent_id: told.parent_id,
      active: told.active,
      state: told.state,
      since: told.since,
      why: told.why,
      because: told.because ?? [],
      last_result_at: told.last_result_at,
      fresh_until: told.fresh_until,
      p50_us: told.p50_us,
      region_states: told.region_states ?? [],
      maintained: told.maintained ?? never,
    };
    const until = item.fresh_until === null ? Number.POSITIVE_INFINITY : Date.parse(item.fresh_until);
    const entry = this.entries.get(item.id);
    if (!entry) {
      const empty = { slots: mergeSlots([], ticks ?? []), changedAt: 0 };
      this.entries.set(item.id, { item, until, view: this.viewOf(item, until, empty, now), filled: 0 });
      this.wake(item.id);
      return true;
    }
    entry.item = item;
    entry.until = until;
    const slots = this.spared(entry, mergeSlots(entry.view.slots, ticks ?? []));
    return this.show(entry, this.viewOf(item, until, { ...entry.view, slots }, now));
  }

  /** What is kept of a bar. Of one that is not looked at little: it is filled again when it is. */
  private spared(entry: Entry, slots: readonly SlotView[]): readonly SlotView[] {
    const most = Math.max(SPARE_LEAST, Math.floor(SPARE_SLOTS / this.entries.size));
    if (most >= BAR_SLOTS || slots.length <= most) return slots;
    if (this.rowListeners.has(entry.item.id) || this.left.has(entry.item.id)) return slots;
    entry.filled = 0;
    return slots.slice(-most);
  }

  private viewOf(
    item: Entry["item"],
    until: number,
    old: Pick<TargetView, "slots" | "changedAt">,
    now: number,
  ): TargetView {
    const kept = { slots: old.slots, changedAt: old.changedAt };
    if (!isStale(item, until, now)) return { ...item, ...kept, stale: false };
    const regions = item.region_states.map((r) => ({ ...r, fresh: false }));
    return {
      ...item,
      ...kept,
      stale: true,
      state: "no_data",
      since: item.fresh_until,
      why: staleReason(regions.map((r) => r.region)),
      region_states: regions,
    };
  }

  private show(entry: Entry, view: TargetView): boolean {
    const old = entry.view;
    const changed = old.state !== view.state;
    entry.view = changed ? { ...view, changedAt: Date.now() } : view;
    this.wake(view.id);
    if (changed) {
      const transition = { id: view.id, name: view.name, from: old.state, to: view.state };
      for (const listener of this.transitionListeners) listener(transition);
    }
    return (
      changed ||
      old.name !== view.name ||
      old.url !== view.url ||
      old.active !== view.active ||
      old.parent_id !== view.parent_id ||
      old.tags.join() !== view.tags.join()
    );
  }

  private drop(id: number): boolean {
    this.hidden.delete(id);
    this.assumed.delete(id);
    this.left.delete(id);
    const existed = this.entries.delete(id);
    if (existed) this.wake(id);
    return existed;
  }

  private wake(id: number): void {
    for (const listener of this.rowListeners.get(id) ?? []) listener();
  }

  private publishList(): void {
    const gather = Math.min(Math.max(GATHER_MS, GATHER_SHARE * this.took), GATHER_MOST_MS);
    const wait = this.published + this.took + gather - Date.now();
    if (this.entries.size < MANY || wait <= 0) this.publishNow();
    else this.publishing ??= setTimeout(() => this.publishNow(), wait);
  }

  private publishNow(): void {
    clearTimeout(this.publishing);
    this.publishing = undefined;
    const began = Date.now();
    this.published = began;
    this.took = 0;
    this.list = {
      ...this.list,
      ...this.summed(),
      begun: this.opening !== undefined || this.list.ready,
      regions: this.regions,
    };
    this.notifyList();
    // Behind what the listeners have put off until the end of this task: the page draws itself there.
    queueMicrotask(() => {
      this.took = Date.now() - began;
    });
  }

  private summed(): Pick<ListView, "counts" | "total" | "tags"> {
    const tags = new Map<string, number>();
    if (this.opening) return { counts: this.opening.counts, total: this.opening.total, tags };
    const counts = none();
    let total = 0;
    for (const [id, entry] of this.entries) {
      if (this.hidden.has(id)) continue;
      counts[entry.view.state]++;
      for (const tag of entry.view.tags) tags.set(tag, (tags.get(tag) ?? 0) + 1);
      total++;
    }
    return { counts, tags, total };
  }

  private notifyList(): void {
    this.list = { ...this.list, version: this.list.version + 1 };
    for (const listener of this.listListeners) listener();
  }
}

/** A target whose activity was just changed: what is known of it otherwise is not the present any more. */
function turned(item: Entry["item"]): Entry["item"] {
  if (!item.active) return { ...item, state: "paused", why: t("Paused.") };
  return item.state === "paused" ? { ...item, state: "no_data", why: t("Waiting for the next check.") } : item;
}

function isStale(item: Entry["item"], until: number, now: number): boolean {
  return until < now && evidence.has(item.state);
}

function staleReason(regions: string[]): string {
  return t(
    "{n, plural, =0 {No fresh result.} one {No fresh result: region {regions} stopped reporting.} other {No fresh result: regions {regions} stopped reporting.}}",
    { n: regions.length, regions: listed(regions) },
  );
}
