import type { Position } from "../api/types";

interface Message {
  t: string;
  id?: string;
  ch?: string;
  epoch?: string;
  seq?: number;
  from_seq?: number;
  recovered?: boolean;
  ops?: readonly unknown[];
}

/**
 * A channel without a snapshot, such as incidents: it says what changed, or else that anything may
 * have and what is shown is to be asked for again. Nothing is missed: after every subscription that
 * could not go on where the last one was, and after every gap, it says the latter.
 */
export class Beside<Op = unknown> {
  live = false;
  private position: Position | null = null;
  private subscriptions = 0;
  private readonly name: string;
  private readonly changed: (ops: readonly Op[] | null) => void;

  constructor(name: string, changed: (ops: readonly Op[] | null) => void) {
    this.name = name;
    this.changed = changed;
  }

  subscribe(): object {
    this.live = false;
    this.subscriptions++;
    return { t: "sub", id: this.id, ch: this.name, ...(this.position && { from: this.position }) };
  }

  unsubscribe(): object {
    this.live = false;
    return { t: "unsub", id: this.id, ch: this.name };
  }

  lost(): void {
    this.live = false;
  }

  private get id(): string {
    return `${this.name}.${this.subscriptions}`;
  }

  /** Gives what is to be sent, if anything is. */
  receive(message: Message): object | null {
    if (message.t === "ok" && message.id === this.id) {
      this.live = true;
      this.position = { epoch: message.epoch ?? "", seq: message.seq ?? 0 };
      if (!message.recovered) this.changed(null);
      return null;
    }
    if (message.ch !== this.name || !this.live || !this.position) return null;
    const seq = message.seq ?? 0;
    const gap = message.t === "resync" || (message.t === "delta" && (message.from_seq ?? 0) > this.position.seq);
    if (gap) {
      this.position = null;
      return this.subscribe();
    }
    if (message.t === "delta" && seq > this.position.seq) {
      this.position = { epoch: this.position.epoch, seq };
      this.changed((message.ops ?? []) as readonly Op[]);
    }
    return null;
  }
}
