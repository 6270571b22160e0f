import type { Position } from "../api/types";
import type { Socket } from "./connection";

/** The part of a browser's EventSource that the stream uses. */
export interface Source {
  onopen: (() => void) | null;
  onmessage: ((event: { data: string; lastEventId: string }) => void) | null;
  onerror: (() => void) | null;
  addEventListener(kind: "close", listener: (event: { data: string }) => void): void;
  close(): void;
}

interface Sub {
  id: string;
  from: string; // "": nowhere
  asked: boolean; // its answer has not come
}

const LOST = 1006; // what a browser says of a websocket that ended without a word

/**
 * The live protocol where no websocket gets through: what the server says comes as an event stream,
 * and the channels stand in its address. A new subscription opens another stream, in which the
 * other channels go on where they are.
 */
export class StreamSocket implements Socket {
  onopen: (() => void) | null = null;
  onmessage: ((event: { data: unknown }) => void) | null = null;
  onclose: ((event: { code: number }) => void) | null = null;
  private source: Source | null = null;
  private readonly subs = new Map<string, Sub>();
  private welcomed = false;
  private waiting = false; // subscriptions of one moment open one stream
  private closed = false;
  private readonly open: (address: string) => Source;

  constructor(open: (address: string) => Source) {
    this.open = open;
    this.connect();
  }

  send(data: string): void {
    const message = JSON.parse(data) as { t: string; id: string; ch: string; from?: Position | null };
    if (message.t === "unsub") this.subs.delete(message.ch);
    if (message.t !== "sub") return; // a stream needs no greeting and no pong
    const from = message.from;
    this.subs.set(message.ch, {
      id: message.id,
      from: from ? `${from.epoch}.${from.seq}.${from.mark ?? ""}` : "",
      asked: true,
    });
    if (this.waiting) return;
    this.waiting = true;
    queueMicrotask(() => {
      this.waiting = false;
      if (!this.closed) this.connect();
    });
  }

  close(): void {
    this.closed = true;
    this.source?.close();
  }

  private connect(): void {
    this.source?.close();
    const query = new URLSearchParams();
    for (const [channel, { from }] of this.subs) {
      query.append("ch", channel);
      if (from) query.append("from", `${channel}@${from}`);
    }
    const source = this.open(`/api/v1/live/events?${query}`);
    this.source = source;
    const mine = () => this.source === source && !this.closed;
    source.onopen = () => mine() && this.onopen?.();
    source.onmessage = (event) => mine() && this.receive(event.data, event.lastEventId);
    source.onerror = () => mine() && this.end(LOST); // it would try again by itself, without a pause that grows
    source.addEventListener("close", (event) => mine() && this.end((JSON.parse(event.data) as { code: number }).code));
  }

  private end(code: number): void {
    this.close();
    this.onclose?.({ code });
  }

  private receive(data: string, lastEventId: string): void {
    for (const place of lastEventId.split(" ")) {
      const [channel, at] = place.split("@") as [string, string | undefined];
      const sub = this.subs.get(channel);
      if (sub && at) sub.from = at;
    }
    const message = JSON.parse(data) as { t: string; id?: string; recovered?: boolean };
    if (message.t === "welcome") {
      if (this.welcomed) return;
      this.welcomed = true;
    }
    if (message.t !== "ok" && message.t !== "err") {
      this.onmessage?.({ data });
      return;
    }
    const sub = this.subs.get(message.id ?? ""); // in a stream a subscription has the name of its channel
    if (!sub) return;
    if (sub.asked) {
      sub.asked = false;
      this.onmessage?.({ data: JSON.stringify({ ...message, id: sub.id }) });
    } else if (!message.recovered) {
      this.end(LOST); // a channel that nobody asked for again could not go on
    }
  }
}
