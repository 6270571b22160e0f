import { connect, createServer } from "node:net";

/**
 * A TCP proxy in front of the server under test, so that the network can really
 * be cut: connections die and new ones are refused, with no help of the browser.
 */
export async function startProxy(target) {
  const open = new Set();
  let mode = "open"; // open | cut | no-sockets | no-live: neither sockets nor event streams
  const stream = /^GET \S*(\/live|\/s\/[^/ ]+)\/events/m; // of the dashboard, of a status page
  const server = createServer((client) => {
    if (mode === "cut") return client.destroy();
    client.once("data", (head) => {
      const upgrade = /^upgrade:\s*websocket/im.test(head.toString("latin1"));
      // Also of a connection that was made before the cut, and has said nothing until now.
      if (mode === "cut" || (upgrade && mode.startsWith("no-"))) return client.destroy();
      const upstream = connect(Number(target.port || 80), target.hostname);
      const pair = { client, upstream, upgrade, live: upgrade };
      open.add(pair);
      const end = () => {
        open.delete(pair);
        client.destroy();
        upstream.destroy();
      };
      for (const socket of [client, upstream]) socket.on("error", end).on("close", end);
      const look = (chunk) => {
        if (!stream.test(chunk.toString("latin1"))) return;
        pair.live = true;
        if (mode === "no-live") end();
      };
      look(head);
      client.on("data", look); // a connection is used for one request after the other
      if (!client.destroyed) upstream.write(head);
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
    cutLive() {
      mode = "no-live";
      drop((pair) => pair.live);
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
