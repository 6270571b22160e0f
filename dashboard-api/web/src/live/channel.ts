import type { Op, Position, ServerMessage } from "../api/types";

/** What the connection must do about a message. */
export type Action = { do: "nothing" } | { do: "apply"; ops: Op[] } | { do: "live" } | { do: "resync"; reason: string };

/** A position; without a mark where the server has none. */
export function place(epoch: string, seq: number, mark: string | undefined): Position {
  return mark ? { epoch, seq, mark } : { epoch, seq };
}

const nothing: Action = { do: "nothing" };

/**
 * One subscription's place in its channel. Deltas are numbered without gaps
 * within an epoch: a frame is applied only when it continues what we have, is
 * dropped when we have it already, and anything else asks for a fresh snapshot.
 * So the list is never silently behind. The epoch is that of the node that answers.
 */
export class Channel {
  readonly name: string;
  position: Position | null = null;
  live = false;
  private subscriptions = 0;

  constructor(name: string) {
    this.name = name;
  }

  /** Starts a subscription that continues from the position. Answers to earlier ones no longer count. */
  subscribe(): object {
    this.live = false;
    this.subscriptions++;
    return { t: "sub", id: this.id, ch: this.name, from: this.position };
  }

  unsubscribe(): object {
    this.live = false;
    return { t: "unsub", id: this.id, ch: this.name };
  }

  /** Takes the position of a snapshot. */
  rebase(position: Position): void {
    this.position = position;
  }

  private get id(): string {
    return String(this.subscriptions);
  }

  receive(message: ServerMessage): Action {
    switch (message.t) {
      case "ok":
        return this.accepted(message);
      case "delta":
        return this.delta(message);
      case "resync":
        return message.ch === this.name ? this.lose(message.reason || "asked") : nothing;
      case "err":
        return message.id === this.id && !this.live ? this.lose(message.code) : nothing;
      default:
        return nothing;
    }
  }

  private accepted(message: Extract<ServerMessage, { t: "ok" }>): Action {
    if (message.id !== this.id || this.live || !this.position) return nothing;
    if (!message.recovered) return this.lose("not recovered");
    if (message.epoch !== this.position.epoch) {
      if (!message.mark) return this.lose("another epoch");
      // Another node goes on by the mark: what was missed is its first delta.
      this.position = place(message.epoch, message.seq, message.mark);
    }
    this.live = true;
    return { do: "live" };
  }

  private delta(message: Extract<ServerMessage, { t: "delta" }>): Action {
    if (message.ch !== this.name || !this.live || !this.position) return nothing;
    if (message.seq <= this.position.seq) return nothing;
    if (message.from_seq > this.position.seq) return this.lose("gap");
    this.position = place(this.position.epoch, message.seq, message.mark ?? this.position.mark);
    return { do: "apply", ops: message.ops };
  }

  private lose(reason: string): Action {
    this.live = false;
    return { do: "resync", reason };
  }
}
