import { beforeEach, expect, test } from "vitest";
import { type Source, StreamSocket } from "./stream";

class FakeSource implements Source {
  onopen: (() => void) | null = null;
  onmessage: ((event: { data: string; lastEventId: string }) => void) | null = null;
  onerror: (() => void) | null = null;
  ended: ((event: { data: string }) => void) | null = null;
  closed = false;
  readonly address: URL;
  constructor(address: string) {
    this.address = new URL(address, "https://x.example");
  }
  addEventListener(_kind: "close", listener: (event: { data: string }) => void): void {
    this.ended = listener;
  }
  close(): void {
    this.closed = true;
  }
  says(message: object, lastEventId = ""): void {
    this.onmessage?.({ data: JSON.stringify(message), lastEventId });
  }
}

let sources: FakeSource[];
let heard: Record<string, unknown>[];
let codes: number[];
let socket: StreamSocket;
const newest = () => sources.at(-1) as FakeSource;
const asked = () => [newest().address.searchParams.getAll("ch"), newest().address.searchParams.getAll("from")];

beforeEach(() => {
  [sources, heard, codes] = [[], [], []];
  socket = new StreamSocket((address) => {
    sources.push(new FakeSource(address));
    return newest();
  });
  socket.onmessage = ({ data }) => heard.push(JSON.parse(String(data)));
  socket.onclose = ({ code }) => codes.push(code);
});

async function subscribed(): Promise<void> {
  newest().says({ t: "welcome" });
  socket.send(JSON.stringify({ t: "hello" }));
  socket.send(JSON.stringify({ t: "sub", id: "1", ch: "targets", from: { epoch: "e", seq: 4 } }));
  socket.send(JSON.stringify({ t: "sub", id: "incidents.1", ch: "incidents" }));
  await Promise.resolve();
  newest().says({ t: "welcome" });
  newest().says({ t: "ok", id: "targets", ch: "targets", epoch: "e", seq: 4, recovered: true }, "targets@e.4");
  newest().says({ t: "ok", id: "incidents", ch: "incidents", epoch: "e", seq: 2 }, "incidents@e.2 targets@e.4");
}

test("subscriptions of one moment are one stream, and their answers bear their ids", async () => {
  await subscribed();
  expect(sources.map((s) => s.closed)).toEqual([true, false]);
  expect(asked()).toEqual([["targets", "incidents"], ["targets@e.4."]]);
  expect(heard.map((m) => [m.t, m.id])).toEqual([
    ["welcome", undefined],
    ["ok", "1"],
    ["ok", "incidents.1"],
  ]);
});

test("another subscription lets the others go on where they are", async () => {
  await subscribed();
  newest().says({ t: "delta", ch: "targets", from_seq: 4, seq: 9 }, "incidents@e.2 targets@e.9");
  socket.send(JSON.stringify({ t: "sub", id: "incidents.2", ch: "incidents" }));
  await Promise.resolve();
  expect(asked()).toEqual([["targets", "incidents"], ["targets@e.9"]]);
  newest().says({ t: "ok", id: "targets", recovered: true }, "targets@e.9");
  newest().says({ t: "ok", id: "incidents", recovered: false }, "incidents@e.3 targets@e.9");
  expect(heard.slice(3).map((m) => [m.t, m.id])).toEqual([
    ["delta", undefined],
    ["ok", "incidents.2"],
  ]);
  expect(codes).toEqual([]);
});

test("a channel that cannot go on unasked ends it", async () => {
  await subscribed();
  socket.send(JSON.stringify({ t: "sub", id: "incidents.2", ch: "incidents" }));
  await Promise.resolve();
  newest().says({ t: "ok", id: "targets", recovered: false });
  expect([codes, newest().closed]).toEqual([[1006], true]);
});

test("it ends with the code of the server, or without one", async () => {
  await subscribed();
  newest().ended?.({ data: '{"code":4001,"reason":"no longer allowed"}' });
  newest().onerror?.();
  expect([codes, newest().closed]).toEqual([[4001], true]);
});
