import { connect, createServer } from "node:net";

/**
 * A TCP proxy in front of the server under test, so that the network can really
 * be cut: connections die and new ones are refused, with no help of the browser.
 */
export async function startProxy(target) {
  const open = new Set();
  let mode = "open"; // open | cut | no-sockets
  const server = createServer((client) => {
    if (mode === "cut") return client.destroy();
    client.once("data", (head) => {
      const upgrade = /^upgrade:\s*websocket/im.test(head.toString("latin1"));
      if (upgrade && mode === "no-sockets") return client.destroy();
      const upstream = connect(Number(target.port || 80), target.hostname);
      const pair = { client, upstream, upgrade };
      open.add(pair);
      const end = () => {
        open.delete(pair);
        client.destroy();
        upstream.destroy();
      };
      for (const socket of [client, upstream]) socket.on("error", end).on("close", end);
      upstream.write(head);
      client.pipe(upstream).pipe(client);
    });
    client.on("error", () => client.destroy());
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const drop = (which) => {
    for (const pair of [...open]) if (which(pair)) pair.client.destroy();
  };
  return {
    url: `http://localhost:${server.address().port}`,
    cut() {
      mode = "cut";
      drop(() => true);
    },
    cutSockets() {
      mode = "no-sockets";
      drop((pair) => pair.upgrade);
    },
    restore() {
      mode = "open";
    },
    async close() {
      drop(() => true);
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
