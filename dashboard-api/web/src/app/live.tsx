import { createContext, type ReactNode, useContext, useEffect, useSyncExternalStore } from "react";
import { ApiError } from "../api/client";
import { asked, overviewPath, SPARE_SLOTS } from "../api/early";
import { api } from "../api/endpoints";
import { type LinkStatus, LiveConnection, type Socket, type Way } from "../live/connection";
import { HistoryFiller } from "../live/filler";
import { type ListView, LiveStore, type TargetView } from "../live/store";
import { type Source, StreamSocket } from "../live/stream";

/** The live feed of a page: one store, one connection, started while somebody shows it. */
export class Live {
  readonly store = new LiveStore();
  readonly filler = new HistoryFiller(this.store, api.latest);
  /** Why there is no first snapshot, until there is one. */
  error: unknown = null;
  private status: LinkStatus = { kind: "connecting", since: 0 };
  private readonly listeners = new Set<() => void>();
  private readonly incidentListeners = new Set<() => void>();
  private users = 0;
  private sweeper: ReturnType<typeof setInterval> | undefined;
  private regionsTold = 0; // how often something was said of regions
  private readonly connection: LiveConnection;

  constructor(onSignedOut: () => void) {
    this.connection = new LiveConnection({
      openSocket: openBrowserSocket,
      fetchSnapshot: async (known) => {
        // What there is already is shown first: a snapshot of many targets takes a while.
        if (this.store.getList().begun) await painted();
        const told = this.regionsTold;
        const snapshot = await api.snapshot(SPARE_SLOTS, known);
        if (told !== this.regionsTold) void this.askRegions(); // its regions may be those of before
        return snapshot;
      },
      onSnapshot: (snapshot) => {
        this.error = null;
        this.store.applySnapshot(snapshot);
      },
      onOps: (ops) => {
        this.store.applyOps(ops);
        // A target takes its incidents with it, of which nothing is told any more.
        if (ops.some((op) => op.op === "remove")) for (const listener of this.incidentListeners) listener();
      },
      onGap: () => this.store.markGap(),
      onServerTime: (time) => this.store.setServerTime(time),
      onIncidents: () => {
        for (const listener of this.incidentListeners) listener();
        this.report(this.status);
      },
      onRegions: (ops) => {
        if (!ops) return void this.askRegions();
        this.regionsTold++;
        this.store.applyRegionOps(ops);
      },
      onStatus: (status) => this.report(status),
      now: () => this.store.serverNow(),
      onError: (error) => {
        if (error instanceof ApiError && error.status === 401) return onSignedOut();
        if (this.store.getList().ready) return;
        this.error = error;
        this.report(this.status);
      },
    });
  }

  /** Keeps the feed running until the returned function is called. */
  use(): () => void {
    if (this.users++ === 0) {
      this.connection.start();
      this.sweeper = setInterval(() => this.store.sweep(), 1000);
      window.addEventListener("online", this.retry);
      window.addEventListener("offline", this.lost);
    }
    return () => {
      if (--this.users > 0) return;
      this.connection.stop();
      clearInterval(this.sweeper);
      window.removeEventListener("online", this.retry);
      window.removeEventListener("offline", this.lost);
    };
  }

  /** Has all regions told anew. What was said of them meanwhile is newer: then once more. */
  private async askRegions(): Promise<void> {
    const told = this.regionsTold;
    const overview = await api.overview(0).catch(() => null); // the next snapshot has them, too
    if (told !== this.regionsTold) return this.askRegions();
    if (overview) this.store.applyRegions(overview.regions);
  }

  /** Takes the first rows in, if they were asked for before the page was there. */
  async begin(): Promise<void> {
    const answer = await asked(overviewPath);
    if (answer?.ok) this.store.applyOverview(await answer.json());
  }

  retry = () => this.connection.retryNow();
  private lost = () => this.connection.lost();

  getStatus = () => this.status;
  subscribe = (listener: () => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  tellsIncidents = () => this.connection.tellsIncidents();
  /** Calls the listener whenever incidents may have changed. */
  onIncidents(listener: () => void): () => void {
    this.incidentListeners.add(listener);
    return () => this.incidentListeners.delete(listener);
  }

  /** Calls the listener whenever what a channel is about may have changed, while the feed runs. */
  follow = (channel: string, listener: () => void) => this.connection.follow(channel, listener);

  private report(status: LinkStatus): void {
    this.status = { ...status };
    for (const listener of this.listeners) listener();
  }
}

/** Once what was just changed is on the screen; a page that nobody looks at paints nothing. */
function painted(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, 200);
    requestAnimationFrame(() => setTimeout(resolve));
  });
}

function openBrowserSocket(way: Way): Socket {
  // The handlers are set to functions that take less than the browser gives.
  if (way === "stream") return new StreamSocket((address) => new EventSource(address) as unknown as Source);
  const address = new URL("/api/v1/live", location.href);
  address.protocol = location.protocol === "https:" ? "wss:" : "ws:";
  return new WebSocket(address, "probefleet.v1.json") as unknown as Socket;
}

const LiveContext = createContext<Live | null>(null);

export function LiveProvider({ live, children }: { live: Live; children: ReactNode }) {
  return <LiveContext value={live}>{children}</LiveContext>;
}

export function useLive(): Live {
  const live = useContext(LiveContext);
  if (!live) throw new Error("the live feed is missing above this component");
  return live;
}

/** Runs the feed while the component is shown. */
export function useLiveRunning(): void {
  const live = useLive();
  useEffect(() => live.use(), [live]);
}

export function useLink(): LinkStatus {
  const live = useLive();
  return useSyncExternalStore(live.subscribe, live.getStatus);
}

/** Why there is no first snapshot, while there is none. */
export function useLiveError(): unknown {
  const live = useLive();
  return useSyncExternalStore(live.subscribe, () => live.error);
}

export function useList(): ListView {
  const { store } = useLive();
  return useSyncExternalStore(
    (listener) => store.subscribeList(listener),
    () => store.getList(),
  );
}

export function useTargetView(id: number): TargetView | undefined {
  const { store } = useLive();
  return useSyncExternalStore(
    (listener) => {
      const row = store.subscribeRow(id, listener);
      const list = store.subscribeList(listener); // hiding and unhiding
      return () => {
        row();
        list();
      };
    },
    () => store.get(id),
  );
}

/** Has the bars of these targets filled, now and after every gap. */
export function useFilled(ids: readonly number[]): void {
  const live = useLive();
  const { version, ready } = useList();
  const key = ids.join();
  // biome-ignore lint/correctness/useExhaustiveDependencies: `key` stands for `ids`; `version` rises with every gap
  useEffect(() => {
    if (ready && ids.length > 0) void live.filler.want(ids);
  }, [live, key, version, ready]);
}
