import type { Named } from "../api/client";
import type { Op, RegionOp, ServerMessage, Snapshot } from "../api/types";
import { backoffMs } from "./backoff";
import { Beside } from "./beside";
import { Channel, place } from "./channel";

/** The part of a browser's WebSocket that the connection uses. */
export interface Socket {
  onopen: (() => void) | null;
  onmessage: ((event: { data: unknown }) => void) | null;
  onclose: ((event: { code: number }) => void) | null;
  send(data: string): void;
  close(): void;
}

/** By what changes arrive as they happen. */
export type Way = "socket" | "stream";

export type LinkStatus =
  | { kind: "connecting"; since: number }
  | { kind: "live"; since: number; via: Way }
  | { kind: "reconnecting"; since: number }
  | { kind: "polling"; since: number; polledAt: number };

export interface Handlers {
  openSocket(way: Way): Socket;
  /** `known` names what is shown, if nothing was told since it came: it need not come again. */
  fetchSnapshot(known: string | null): Promise<Named<Snapshot>>;
  onSnapshot(snapshot: Snapshot): void;
  onOps(ops: Op[]): void;
  /** Deltas were missed: whatever was built from them must be filled from the API. */
  onGap(reason: string): void;
  onStatus(status: LinkStatus): void;
  onServerTime(serverTime: string): void;
  onError(error: unknown): void;
  /** Incidents may be other ones than those that are shown. */
  onIncidents(): void;
  /** Regions have changed like this; null: they may be any other ones. */
  onRegions(ops: readonly RegionOp[] | null): void;
  random?(): number;
  /** The clock that statuses are told by; else that of this machine. */
  now?(): number;
}

const REVOKED = 4001; // close code: the session or key no longer counts
const DEAD_MS = 35_000; // the server pings every 15 s
const GREETED_MS = 10_000; // without a word from the server for so long it does not get through
const REFUSALS = 2; // of websockets in a row, before a stream is tried instead
const POLL_AFTER_MS = 10_000;
const POLL_EVERY_MS = 10_000;

/**
 * Keeps a page current: a snapshot over HTTP, then deltas on the websocket.
 *
 * It reconnects for ever with back-off and continues where it stopped; when the
 * server cannot continue, or a frame does not fit, it takes a new snapshot and
 * reports a gap. Where no websocket gets through it tries an event stream, in turn
 * with websockets. Cut off for longer than ten seconds it polls the snapshot, so
 * the page stays true, only slower. That nothing is new is news, too: it says until
 * when, and evidence ages by the server's clock.
 */
export class LiveConnection {
  private readonly handlers: Handlers;
  private readonly channel = new Channel("targets");
  private readonly incidents = new Beside("incidents", () => this.handlers.onIncidents());
  private readonly followed = new Set<Beside>();
  private readonly fleet = new Beside<RegionOp>("fleet", (ops) => this.handlers.onRegions(ops));
  private socket: Socket | null = null;
  private welcomed = false;
  private opening = false;
  private stopped = true;
  private loading = false;
  private way: Way = "socket";
  private refusals = 0; // of ways in a row that did not get through
  private failures = 0; // of connecting, since the last time it was live
  private resyncs = 0; // in a row, without one accepted subscription
  private polled = false; // a snapshot was taken while cut off
  private tag: string | null = null; // of the snapshot, while what is shown is just that
  private lostAt = 0;
  private status: LinkStatus = { kind: "connecting", since: 0 };
  private readonly timers = new Map<string, ReturnType<typeof setTimeout>>();

  constructor(handlers: Handlers) {
    this.handlers = handlers;
  }

  start(): void {
    if (!this.stopped) return;
    this.stopped = false;
    this.channel.live = false;
    if (this.channel.position) this.handlers.onGap("started again");
    this.lostAt = this.now();
    this.report({ kind: "connecting", since: this.lostAt });
    void this.loadSnapshot();
    this.connect();
    this.after("poll", POLL_AFTER_MS, () => void this.poll());
  }

  stop(): void {
    this.stopped = true;
    for (const timer of this.timers.values()) clearTimeout(timer);
    this.timers.clear();
    this.besides((one) => one.lost());
    const { socket } = this;
    const opening = this.opening && this.way === "socket";
    this.dropSocket(!opening);
    // Closed before it is open, the browser writes a warning: nothing is wrong, somebody signed out.
    if (socket && opening) socket.onopen = () => socket.close();
  }

  /** Calls `changed` whenever what a channel is about has changed, until the returned function is called. */
  follow(channel: string, changed: () => void): { live(): boolean; end(): void } {
    const one = new Beside(channel, changed);
    this.followed.add(one);
    if (this.welcomed) this.send(one.subscribe());
    return {
      live: () => one.live,
      end: () => {
        if (this.followed.delete(one) && this.welcomed) this.send(one.unsubscribe());
      },
    };
  }

  /** Whether incidents are told as they happen: else they must be asked for. */
  tellsIncidents(): boolean {
    return this.incidents.live;
  }

  /** Tries again at once, for example because the browser says it is online again. */
  retryNow(): void {
    if (this.stopped) return;
    if (!this.channel.position) {
      this.clear("resync");
      void this.loadSnapshot();
    }
    if (this.socket) return;
    this.failures = 0;
    this.refusals = 0;
    this.connect();
  }

  /** The browser knows the network is gone: do not wait for the heartbeat to find out. */
  lost(): void {
    if (!this.stopped && this.socket) this.onLost();
  }

  private connect(): void {
    this.clear("connect");
    this.way = this.refusals >= REFUSALS && this.refusals % 2 === 0 ? "stream" : "socket";
    const socket = this.handlers.openSocket(this.way);
    this.socket = socket;
    this.opening = true;
    this.welcomed = false;
    const mine = () => this.socket === socket && !this.stopped;
    socket.onopen = () => {
      if (!mine()) return;
      this.opening = false;
      this.armHeartbeat();
    };
    socket.onmessage = (event) => mine() && this.onMessage(event.data);
    socket.onclose = (event) => {
      if (!mine()) return;
      this.onLost();
      if (event.code === REVOKED) void this.askWhy();
    };
    this.armHeartbeat();
  }

  /** Who was told to go comes back only if it may ask: the answer stops the connection if not. */
  private async askWhy(): Promise<void> {
    this.clear("connect");
    await this.poll();
    if (!this.stopped && !this.socket)
      this.after("connect", backoffMs(this.failures++, this.handlers.random), () => this.connect());
  }

  private armHeartbeat(): void {
    this.after("dead", this.welcomed ? DEAD_MS : GREETED_MS, () => this.onLost());
  }

  private onLost(): void {
    if (!this.welcomed || this.way === "stream") this.refusals++;
    this.dropSocket();
    this.clear("dead");
    this.clear("resync");
    this.channel.live = false;
    this.besides((one) => one.lost());
    const now = this.now();
    if (this.status.kind === "live") {
      this.lostAt = now;
      this.polled = false;
      this.after("poll", POLL_AFTER_MS, () => void this.poll());
    }
    if (this.status.kind !== "polling" && this.status.kind !== "connecting") {
      this.report({ kind: "reconnecting", since: this.lostAt });
    }
    this.after("connect", backoffMs(this.failures++, this.handlers.random), () => this.connect());
  }

  private dropSocket(close = true): void {
    const socket = this.socket;
    this.socket = null;
    this.welcomed = false;
    if (!socket) return;
    socket.onopen = null;
    socket.onmessage = null;
    socket.onclose = null;
    if (close) socket.close();
  }

  private onMessage(data: unknown): void {
    let message: ServerMessage;
    try {
      message = JSON.parse(String(data)) as ServerMessage;
    } catch {
      this.onLost();
      return;
    }
    this.armHeartbeat();
    if (message.t === "ping") {
      this.send({ t: "pong" });
      return;
    }
    if (message.t === "welcome") {
      this.handlers.onServerTime(message.server_time);
      this.welcomed = true;
      if (this.way === "socket") this.refusals = 0;
      this.send({ t: "hello" });
      this.subscribe();
      this.besides((one) => this.send(one.subscribe()));
      return;
    }
    this.besides((one) => {
      const answer = one.receive(message);
      if (answer) this.send(answer);
    });
    const action = this.channel.receive(message);
    switch (action.do) {
      case "apply":
        this.tag = null;
        this.handlers.onOps(action.ops);
        return;
      case "live":
        this.onLive();
        return;
      case "resync":
        this.onResync(action.reason);
        return;
    }
  }

  private besides(each: (one: Pick<Beside, "subscribe" | "receive" | "lost">) => void): void {
    each(this.incidents);
    each(this.fleet);
    for (const one of this.followed) each(one);
  }

  private onLive(): void {
    this.failures = 0;
    this.resyncs = 0;
    this.clear("poll");
    if (this.polled) this.handlers.onGap("polled");
    this.polled = false;
    this.report({ kind: "live", since: this.now(), via: this.way });
  }

  private onResync(reason: string): void {
    this.send(this.channel.unsubscribe());
    this.handlers.onGap(reason);
    const wait = this.resyncs++ === 0 ? 0 : backoffMs(this.resyncs, this.handlers.random);
    this.after("resync", wait, () => void this.loadSnapshot());
  }

  private subscribe(): void {
    if (this.socket && this.welcomed && this.channel.position && !this.channel.live && !this.loading) {
      this.send(this.channel.subscribe());
    }
  }

  private async loadSnapshot(): Promise<void> {
    if (this.loading) return;
    this.loading = true;
    try {
      const answer = await this.handlers.fetchSnapshot(null);
      if (this.stopped) return;
      this.take(answer);
      this.loading = false;
      this.subscribe();
    } catch (error) {
      if (this.stopped) return;
      this.handlers.onError(error);
      this.after("resync", backoffMs(++this.resyncs, this.handlers.random), () => void this.loadSnapshot());
    } finally {
      this.loading = false;
    }
  }

  private async poll(): Promise<void> {
    this.after("poll", POLL_EVERY_MS, () => void this.poll());
    if (this.channel.live || this.loading) return;
    this.loading = true;
    try {
      const answer = await this.handlers.fetchSnapshot(this.tag);
      if (this.stopped || this.channel.live) return;
      if (this.take(answer)) this.polled = true;
      this.report({ kind: "polling", since: this.lostAt, polledAt: this.now() });
    } catch (error) {
      if (this.stopped || this.channel.live) return;
      this.handlers.onError(error);
      this.report({ kind: "reconnecting", since: this.lostAt });
    } finally {
      this.loading = false;
      this.subscribe();
    }
  }

  /** Takes an answer in, and says whether it is a new one. */
  private take({ value, tag, now }: Named<Snapshot>): boolean {
    if (!value) {
      this.handlers.onServerTime(now);
      return false;
    }
    this.tag = tag;
    this.channel.rebase(place(value.epoch, value.seq, value.mark));
    this.handlers.onSnapshot(value);
    return true;
  }

  private send(message: object): void {
    try {
      this.socket?.send(JSON.stringify(message));
    } catch {
      this.onLost();
    }
  }

  private now(): number {
    return this.handlers.now?.() ?? Date.now();
  }

  private report(status: LinkStatus): void {
    this.status = status;
    this.handlers.onStatus(status);
  }

  private after(name: string, ms: number, run: () => void): void {
    this.clear(name);
    this.timers.set(
      name,
      setTimeout(() => {
        this.timers.delete(name);
        run();
      }, ms),
    );
  }

  private clear(name: string): void {
    clearTimeout(this.timers.get(name));
    this.timers.delete(name);
  }
}
