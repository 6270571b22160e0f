import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { RegionOp, ServerMessage, Snapshot } from "../api/types";
import { type Handlers, type LinkStatus, LiveConnection, type Socket, type Way } from "./connection";
import { iso, liveTarget, snapshot, start } from "./testdata";

class FakeSocket implements Socket {
  onopen: (() => void) | null = null;
  onmessage: ((event: { data: unknown }) => void) | null = null;
  onclose: ((event: { code: number }) => void) | null = null;
  sent: Record<string, unknown>[] = [];
  closed = false;
  send(data: string): void {
    this.sent.push(JSON.parse(data));
  }
  close(): void {
    this.closed = true;
  }
  says(message: ServerMessage): void {
    this.onmessage?.({ data: JSON.stringify(message) });
  }
  welcome(): void {
    this.onopen?.();
    this.says({ t: "welcome", epoch: "e1", server_time: iso(Date.now()) });
  }
  /** Answers the newest subscription. */
  accept(seq: number, recovered = true): void {
    const sub = this.sent.findLast((m) => m.t === "sub" && m.ch === "targets");
    this.says({ t: "ok", id: String(sub?.id), ch: "targets", epoch: "e1", seq, recovered });
  }
}

class World {
  sockets: FakeSocket[] = [];
  ways: Way[] = [];
  snapshots: Snapshot[] = [];
  applied: number[] = [];
  statuses: LinkStatus["kind"][] = [];
  reports: LinkStatus[] = [];
  gaps: string[] = [];
  regions: unknown[] = [];
  known: (string | null)[] = []; // what snapshots were asked for with
  times: string[] = [];
  seq = 100;
  ahead = 0; // the clock of the server, of this one
  down = false;
  held: Promise<void> | undefined; // until the snapshot is answered
  connection: LiveConnection;
  constructor() {
    const handlers: Handlers = {
      openSocket: (way) => {
        const socket = new FakeSocket();
        this.ways.push(way);
        this.sockets.push(socket);
        return socket;
      },
      fetchSnapshot: async (known) => {
        await this.held;
        if (this.down) throw new Error("cut");
        this.known.push(known);
        const tag = `W/"${this.seq}"`;
        const value = known === tag ? null : snapshot(this.seq, [liveTarget(1)]);
        return { value, tag, now: iso(Date.now() + this.ahead) };
      },
      onSnapshot: (s) => this.snapshots.push(s),
      onOps: (ops) => this.applied.push(...ops.map((op) => op.id)),
      onGap: (reason) => this.gaps.push(reason),
      onStatus: (status) => {
        this.reports.push(status);
        this.statuses.push(status.kind);
      },
      onServerTime: (time) => this.times.push(time),
      onError: () => {},
      onIncidents: () => {},
      onRegions: (ops) => this.regions.push(ops),
      random: () => 1,
      now: () => Date.now() + this.ahead,
    };
    this.connection = new LiveConnection(handlers);
  }
  get socket(): FakeSocket {
    return this.sockets.at(-1) as FakeSocket;
  }
  async settle(ms = 0): Promise<void> {
    await vi.advanceTimersByTimeAsync(ms);
  }
  async goLive(): Promise<void> {
    this.connection.start();
    await this.settle();
    this.socket.welcome();
    this.socket.accept(this.seq);
  }
  subs(): unknown[] {
    return this.socket.sent.filter((m) => m.t === "sub" && m.ch === "targets").map((m) => m.from);
  }
}

let world: World;
beforeEach(() => {
  vi.useFakeTimers({ now: start });
  world = new World();
});
afterEach(() => {
  world.connection.stop();
  expect(vi.getTimerCount(), "a stopped connection leaves no timer").toBe(0);
  vi.useRealTimers();
});

test("snapshot first, then the subscription from its position, then deltas", async () => {
  world.connection.start();
  world.socket.welcome();
  expect(world.subs(), "nothing to continue from yet").toEqual([]);
  await world.settle();
  expect(world.subs()).toEqual([{ epoch: "e1", seq: 100 }]);
  world.socket.accept(100);
  world.socket.says({ t: "delta", ch: "targets", from_seq: 100, seq: 101, ops: [{ op: "remove", id: 7 }] });
  expect(world.applied).toEqual([7]);
  expect(world.statuses).toEqual(["connecting", "live"]);
});

test("after a cut it resumes where it stopped, without a new snapshot", async () => {
  await world.goLive();
  world.socket.says({ t: "delta", ch: "targets", from_seq: 100, seq: 105, ops: [] });
  world.socket.onclose?.({ code: 1006 });
  expect(world.statuses.at(-1)).toBe("reconnecting");
  await world.settle(500);
  expect(world.sockets).toHaveLength(2);
  world.socket.welcome();
  expect(world.subs()).toEqual([{ epoch: "e1", seq: 105 }]);
  world.socket.accept(120);
  expect(world.statuses.at(-1)).toBe("live");
  expect(world.snapshots).toHaveLength(1);
  expect(world.gaps).toEqual([]);
});

test("a gap in the numbers takes a new snapshot and reports the gap", async () => {
  await world.goLive();
  world.seq = 200;
  world.socket.says({ t: "delta", ch: "targets", from_seq: 150, seq: 151, ops: [{ op: "remove", id: 7 }] });
  await world.settle();
  expect(world.applied, "the frame that does not fit is not applied").toEqual([]);
  expect(world.gaps).toEqual(["gap"]);
  expect(world.snapshots).toHaveLength(2);
  expect(world.subs().at(-1)).toEqual({ epoch: "e1", seq: 200 });
  world.socket.accept(200);
  world.socket.says({ t: "delta", ch: "targets", from_seq: 200, seq: 201, ops: [{ op: "remove", id: 8 }] });
  expect(world.applied).toEqual([8]);
});

test("a server that cannot continue costs one snapshot, and a stubborn one does not cause a storm", async () => {
  world.connection.start();
  await world.settle();
  world.socket.welcome();
  world.socket.accept(100, false);
  await world.settle();
  expect(world.gaps).toEqual(["not recovered"]);
  for (let i = 0; i < 20; i++) {
    world.socket.accept(100, false);
    await world.settle(1000);
  }
  expect(world.snapshots.length).toBeLessThan(9);
});

test("a socket that says nothing for 35 s is dead; pings keep it alive and are answered", async () => {
  await world.goLive();
  for (let i = 0; i < 4; i++) {
    await world.settle(15_000);
    world.socket.says({ t: "ping" });
  }
  expect(world.sockets).toHaveLength(1);
  expect(world.socket.sent.filter((m) => m.t === "pong")).toHaveLength(4);
  await world.settle(34_999);
  expect(world.statuses.at(-1)).toBe("live");
  await world.settle(1);
  expect(world.statuses.at(-1)).toBe("reconnecting");
  expect(world.sockets[0]?.closed).toBe(true);
});

test("cut for more than ten seconds it polls, and reports a gap when live again", async () => {
  await world.goLive();
  world.socket.onclose?.({ code: 1006 });
  for (let i = 0; i < 40; i++) {
    world.seq++;
    await world.settle(1000);
    world.socket.onclose?.({ code: 1006 });
  }
  expect(world.statuses.filter((s) => s === "polling").length).toBeGreaterThanOrEqual(3);
  expect(world.snapshots.length).toBeGreaterThanOrEqual(4);
  expect(world.gaps).toEqual([]);
  await world.settle(30_000);
  world.socket.welcome();
  world.socket.accept(world.seq);
  expect(world.statuses.at(-1)).toBe("live");
  expect(world.gaps).toEqual(["polled"]);
  const polls = world.snapshots.length;
  await world.settle(20_000);
  expect(world.snapshots).toHaveLength(polls);
});

test("polling, it is sent nothing while nothing is new, but told until when that holds", async () => {
  await world.goLive();
  world.socket.says({ t: "delta", ch: "targets", from_seq: 100, seq: 101, ops: [{ op: "remove", id: 7 }] });
  world.socket.onclose?.({ code: 1006 });
  const poll = async () => {
    for (let i = 0; i < 10; i++) {
      await world.settle(1000);
      world.socket.onclose?.({ code: 1006 });
    }
  };
  await poll();
  expect(world.known, "what was told is more than the snapshot").toEqual([null, null]);
  world.ahead = 5_000;
  const before = world.times.length;
  await poll();
  await poll();
  expect(world.known.slice(2)).toEqual(['W/"100"', 'W/"100"']);
  expect(world.snapshots).toHaveLength(2);
  expect(world.times.slice(before)).toEqual([iso(start + 25_000), iso(start + 35_000)]);
  expect(world.reports.at(-1)).toMatchObject({ kind: "polling", polledAt: start + 35_000 });
  world.seq = 102;
  await poll();
  expect([world.snapshots.at(-1)?.seq, world.snapshots.length]).toEqual([102, 3]);
});

test("what has not changed since its snapshot is no gap, however often it was asked for", async () => {
  world.connection.start();
  for (let i = 0; i < 25; i++) {
    await world.settle(1000);
    world.socket.onclose?.({ code: 1006 });
  }
  expect(world.known).toEqual([null, 'W/"100"', 'W/"100"']);
  world.connection.retryNow();
  await world.settle();
  world.socket.welcome();
  world.socket.accept(100);
  expect([world.statuses.at(-1), world.gaps]).toEqual(["live", []]);
});

test("how long it is cut off, and when it polled, is told by the server's clock", async () => {
  await world.goLive();
  world.ahead = -3_600_000; // this machine is an hour fast
  world.socket.onclose?.({ code: 1006 });
  expect(world.reports.at(-1)).toEqual({ kind: "reconnecting", since: start - 3_600_000 });
  for (let i = 0; i < 10; i++) {
    await world.settle(1000);
    world.socket.onclose?.({ code: 1006 });
  }
  const polledAt = start + 10_000 - 3_600_000;
  expect(world.reports.at(-1)).toEqual({ kind: "polling", since: start - 3_600_000, polledAt });
});

test("with everything cut it stays reconnecting, with a growing wait", async () => {
  await world.goLive();
  world.down = true;
  world.socket.onclose?.({ code: 1006 });
  for (let i = 0; i < 60; i++) {
    await world.settle(1000);
    world.socket.onclose?.({ code: 1006 });
  }
  expect(world.statuses.at(-1)).toBe("reconnecting");
  expect(world.sockets.length).toBeLessThan(9);
  world.down = false;
  world.connection.retryNow();
  await world.settle();
  world.socket.welcome();
  world.socket.accept(100);
  expect(world.statuses.at(-1)).toBe("live");
});

test("a first snapshot that fails is asked for again", async () => {
  world.down = true;
  world.connection.start();
  await world.settle();
  expect(world.snapshots).toHaveLength(0);
  world.down = false;
  await world.settle(1000);
  expect(world.snapshots).toHaveLength(1);
  world.socket.welcome();
  expect(world.subs()).toHaveLength(1);
});

test("whoever asks to try again need not wait for the first snapshot, though there is a socket", async () => {
  world.down = true;
  world.connection.start();
  world.socket.welcome();
  await world.settle(20_000);
  world.down = false;
  world.connection.retryNow();
  await world.settle();
  expect(world.snapshots).toHaveLength(1);
  await world.settle(10_000);
  expect(world.snapshots, "and no second one comes").toHaveLength(1);
});

test("where no websocket gets through, an event stream is tried in turn", async () => {
  world.connection.start();
  await world.settle();
  const refuse = async () => {
    const before = world.sockets.length;
    world.socket.onclose?.({ code: 1006 });
    while (world.sockets.length === before) await world.settle(100);
  };
  await refuse();
  await refuse();
  await refuse();
  await refuse();
  expect(world.ways).toEqual(["socket", "socket", "stream", "socket", "stream"]);
  world.socket.welcome();
  world.socket.accept(world.seq);
  expect(world.reports.at(-1)).toMatchObject({ kind: "live", via: "stream" });
  await refuse(); // the stream is lost, too
  expect(world.ways.at(-1)).toBe("socket");
  world.socket.welcome();
  world.socket.accept(world.seq);
  expect(world.reports.at(-1)).toMatchObject({ kind: "live", via: "socket" });
  await refuse();
  expect(world.ways.at(-1)).toBe("socket");
});

test("a websocket that nobody answers is given up after ten seconds, a live one is not", async () => {
  world.connection.start();
  await world.settle(9_999);
  expect(world.sockets.length).toBe(1);
  await world.settle(600);
  expect([world.sockets.length, world.sockets[0]?.closed]).toEqual([2, true]);
  world.socket.welcome();
  world.socket.accept(world.seq);
  await world.settle(34_000);
  expect(world.sockets.length).toBe(2);
});

test("a channel is followed beside the others: on every connection, until it is no longer wanted", async () => {
  let changes = 0;
  await world.goLive();
  const followed = world.connection.follow("checks:a1", () => changes++);
  const sub = world.socket.sent.at(-1);
  expect([sub?.t, sub?.ch, followed.live()]).toEqual(["sub", "checks:a1", false]);
  const ok = (id: unknown, recovered: boolean) =>
    world.socket.says({ t: "ok", id: String(id), ch: "checks:a1", epoch: "e1", seq: 3, recovered });
  ok(sub?.id, false); // what was said before it was followed is not known
  expect([changes, followed.live()]).toEqual([1, true]);
  world.socket.says({ t: "delta", ch: "checks:a1", from_seq: 3, seq: 4, ops: [] });
  expect(changes).toBe(2);
  world.socket.says({ t: "delta", ch: "checks:other", from_seq: 3, seq: 9, ops: [] });
  expect(changes).toBe(2);

  world.socket.onclose?.({ code: 1006 });
  expect(followed.live()).toBe(false);
  await world.settle(60_000);
  world.socket.welcome();
  const next = world.socket.sent.findLast((m) => m.ch === "checks:a1");
  expect(next).toMatchObject({ t: "sub", from: { epoch: "e1", seq: 4 } });
  followed.end();
  expect(world.socket.sent.at(-1)).toMatchObject({ t: "unsub", ch: "checks:a1" });
  ok(next?.id, false);
  expect(changes).toBe(2);
});

test("regions are told of as they change, and asked for where the server could not go on", async () => {
  await world.goLive();
  const subs = () => world.socket.sent.filter((m) => m.t === "sub" && m.ch === "fleet");
  const accept = (seq: number, recovered: boolean) =>
    world.socket.says({ t: "ok", id: String(subs().at(-1)?.id), ch: "fleet", epoch: "e1", seq, recovered });
  const delta = (from_seq: number, seq: number, ops: RegionOp[]) =>
    world.socket.onmessage?.({ data: JSON.stringify({ t: "delta", ch: "fleet", from_seq, seq, ops }) });
  accept(4, false);
  delta(4, 5, [{ op: "remove", id: "eu" }]);
  world.socket.onclose?.({ code: 1006 });
  await world.settle(500);
  world.socket.welcome();
  expect(subs().at(-1)).toMatchObject({ from: { epoch: "e1", seq: 5 } });
  accept(5, true);
  delta(7, 8, []); // a gap
  accept(8, false);
  expect(world.regions).toEqual([null, [{ op: "remove", id: "eu" }], null]);
});

test("stopped before its socket is open, it is closed as soon as it is: else browsers warn", async () => {
  world.connection.start();
  await world.settle(10);
  world.connection.stop();
  expect(world.sockets[0]?.closed).toBe(false);
  world.socket.onopen?.();
  expect(world.sockets[0]?.closed).toBe(true);
  world.connection.start();
  await world.goLive();
  world.connection.stop();
  expect(world.sockets[1]?.closed).toBe(true);
});

test("told to go, it asks whether it may before it comes back", async () => {
  await world.goLive();
  let answer = () => {};
  world.held = new Promise((resolve) => {
    answer = resolve;
  });
  world.socket.onclose?.({ code: 4001 });
  await world.settle(5_000);
  expect(world.sockets).toHaveLength(1);
  answer();
  await world.settle(5_000);
  expect(world.sockets).toHaveLength(2);
});
