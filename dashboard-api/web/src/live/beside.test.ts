import { beforeEach, expect, test } from "vitest";
import { Beside } from "./beside";

let changes: number;
let channel: Beside;
beforeEach(() => {
  changes = 0;
  channel = new Beside("incidents", () => changes++);
});

const ok = (id: string, seq: number, recovered: boolean) => ({
  t: "ok",
  id,
  ch: "incidents",
  epoch: "e1",
  seq,
  recovered,
});
const delta = (from_seq: number, seq: number, ch = "incidents") => ({ t: "delta", ch, from_seq, seq });

test("what is shown is asked for after the subscription, and after every change", () => {
  expect(channel.subscribe()).toEqual({ t: "sub", id: "incidents.1", ch: "incidents" });
  expect(channel.live).toBe(false);
  channel.receive(ok("incidents.1", 5, false));
  expect([channel.live, changes]).toEqual([true, 1]);
  channel.receive(delta(5, 7));
  channel.receive(delta(7, 8, "targets"));
  channel.receive(delta(5, 7)); // it is known
  expect(changes).toBe(2);
});

test("it goes on where it was, and asks for nothing that it knows", () => {
  channel.subscribe();
  channel.receive(ok("incidents.1", 5, false));
  channel.receive(delta(5, 7));
  channel.lost();
  expect(channel.live).toBe(false);
  expect(channel.subscribe()).toEqual({ t: "sub", id: "incidents.2", ch: "incidents", from: { epoch: "e1", seq: 7 } });
  channel.receive(ok("incidents.1", 7, false)); // to an earlier one
  expect(channel.live).toBe(false);
  channel.receive(ok("incidents.2", 7, true));
  expect([channel.live, changes]).toEqual([true, 2]);
});

test("a gap, and being too far behind, start anew", () => {
  channel.subscribe();
  channel.receive(ok("incidents.1", 5, false));
  expect(channel.receive(delta(6, 7))).toEqual({ t: "sub", id: "incidents.2", ch: "incidents" });
  channel.receive(ok("incidents.2", 7, false));
  expect(channel.receive({ t: "resync", ch: "incidents" })).toEqual({ t: "sub", id: "incidents.3", ch: "incidents" });
  channel.receive(ok("incidents.3", 9, false));
  expect(changes).toBe(3);
});

test("what was told is handed on; nothing, when anything may have changed", () => {
  const told: (readonly unknown[] | null)[] = [];
  const fleet = new Beside("fleet", (ops) => told.push(ops));
  fleet.subscribe();
  fleet.receive({ t: "ok", id: "fleet.1", epoch: "e1", seq: 3, recovered: false });
  fleet.receive({ ...delta(3, 4, "fleet"), ops: [{ op: "remove", id: "eu" }] });
  expect(told).toEqual([null, [{ op: "remove", id: "eu" }]]);
});
