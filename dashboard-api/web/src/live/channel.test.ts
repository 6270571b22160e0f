import { expect, test } from "vitest";
import type { ServerMessage } from "../api/types";
import { Channel } from "./channel";

const ok = (seq: number, recovered = true, epoch = "e1", id = "1"): ServerMessage => ({
  t: "ok",
  id,
  ch: "targets",
  epoch,
  seq,
  recovered,
});
const delta = (from_seq: number, seq: number): ServerMessage => ({ t: "delta", ch: "targets", from_seq, seq, ops: [] });

function subscribed(seq = 10): Channel {
  const channel = new Channel("targets");
  channel.rebase({ epoch: "e1", seq });
  channel.subscribe();
  return channel;
}

test("a subscription continues from the snapshot's position", () => {
  const channel = new Channel("targets");
  channel.rebase({ epoch: "e1", seq: 10 });
  expect(channel.subscribe()).toEqual({ t: "sub", id: "1", ch: "targets", from: { epoch: "e1", seq: 10 } });
  expect(channel.receive(ok(12))).toEqual({ do: "live" });
  expect(channel.receive(delta(10, 12)).do).toBe("apply");
  expect(channel.position).toEqual({ epoch: "e1", seq: 12 });
});

test("a frame we have is dropped, one that overlaps is applied, one that skips asks for a snapshot", () => {
  const channel = subscribed();
  channel.receive(ok(10));
  expect(channel.receive(delta(8, 10)).do).toBe("nothing");
  expect(channel.receive(delta(8, 11)).do).toBe("apply");
  expect(channel.receive(delta(12, 13))).toEqual({ do: "resync", reason: "gap" });
  expect(channel.receive(delta(11, 12)).do, "nothing is applied until subscribed again").toBe("nothing");
});

test("deltas before the answer do not count", () => {
  const channel = subscribed();
  expect(channel.receive(delta(10, 11)).do).toBe("nothing");
  expect(channel.position?.seq).toBe(10);
});

test("not recovered, another epoch, an error or a resync message ask for a snapshot", () => {
  expect(subscribed().receive(ok(50, false)).do).toBe("resync");
  expect(subscribed().receive(ok(10, true, "e2")).do).toBe("resync");
  expect(subscribed().receive({ t: "err", id: "1", code: "malformed", message: "" }).do).toBe("resync");
  const live = subscribed();
  live.receive(ok(10));
  expect(live.receive({ t: "resync", ch: "targets", reason: "slow" })).toEqual({ do: "resync", reason: "slow" });
  expect(live.receive({ t: "resync", ch: "fleet", reason: "slow" }).do).toBe("nothing");
});

test("answers to an earlier subscription are ignored", () => {
  const channel = subscribed();
  channel.subscribe();
  expect(channel.receive(ok(10, true, "e1", "1")).do).toBe("nothing");
  expect(channel.receive(ok(10, true, "e1", "2")).do).toBe("live");
});

test("another node goes on by the mark, and keeps it until what was missed is there", () => {
  const channel = new Channel("targets");
  channel.rebase({ epoch: "e1", seq: 10, mark: "5-0" });
  channel.subscribe();
  expect(channel.receive({ ...ok(0, true, "e2"), mark: "5-0" } as ServerMessage).do).toBe("live");
  expect(channel.position).toEqual({ epoch: "e2", seq: 0, mark: "5-0" });
  expect(channel.receive({ ...delta(0, 700), mark: "9-1" } as ServerMessage).do).toBe("apply");
  expect(channel.position).toEqual({ epoch: "e2", seq: 700, mark: "9-1" });
});
