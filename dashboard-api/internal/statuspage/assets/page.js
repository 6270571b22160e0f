// Keeps an open page as new as it says: a websocket, else a stream of events, else asking again
// and again. The page is complete without it.
"use strict";
(() => {
  const { base, slug } = document.body.dataset;
  let tag = document.body.dataset.tag;
  let reloading = false;
  let tries = 0;
  const words = new Intl.RelativeTimeFormat(document.documentElement.lang, { numeric: "always" });

  function age() {
    const line = document.getElementById("age");
    if (!line || !line.dataset.at) return;
    const seconds = Math.max(0, Math.round((Date.now() - Date.parse(line.dataset.at)) / 1000));
    const text = seconds < 120 ? words.format(-seconds, "second") : words.format(-Math.floor(seconds / 60), "minute");
    line.textContent = line.dataset.rel.replace("{0}", text);
  }

  // The page itself says it all, in its own language: what changed is taken from it.
  async function reload() {
    if (reloading) return;
    reloading = true;
    await new Promise((done) => setTimeout(done, Math.random() * 800));
    try {
      const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
      if (!answer.ok) return;
      const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
      const states = (root) => new Map([...root.querySelectorAll("#systems li[id]")].map((row) => [row.id, row.querySelector(".state").className]));
      const before = states(document);
      const open = [...document.querySelectorAll("details[open]")].map((d) => d.closest("li").id);
      document.querySelector("main").replaceWith(document.adoptNode(fresh.querySelector("main")));
      document.title = fresh.title;
      tag = fresh.body.dataset.tag;
      for (const id of open) document.getElementById(id)?.querySelector("details")?.setAttribute("open", "");
      for (const [id, state] of states(document)) if (before.has(id) && before.get(id) !== state) document.getElementById(id).classList.add("changed");
    } catch {
      // The next message tries again.
    } finally {
      reloading = false;
    }
  }

  function take(item) {
    const line = document.getElementById("age");
    if (line && item.evidence_at) line.dataset.at = item.evidence_at;
    if (item.tag !== tag) reload();
    age();
  }

  function hear(text) {
    const message = JSON.parse(text);
    if (message.t === "resync") reload();
    if (message.t === "delta") for (const op of message.ops) if (op.item) take(op.item);
    return message;
  }

  async function ask() {
    try {
      const answer = await fetch(base + "/state.json");
      if (answer.ok) take(await answer.json());
    } catch {
      // It is asked again.
    }
  }

  function poll() {
    ask();
    setInterval(ask, 10000);
  }

  function stream() {
    if (!window.EventSource) return poll();
    const events = new EventSource(base + "/events");
    events.onopen = ask; // what happened before it was there
    events.onmessage = (event) => hear(event.data);
    events.onerror = () => {
      if (events.readyState === EventSource.CLOSED) poll();
    };
  }

  let from = null;
  function connect() {
    if (!window.WebSocket) return stream();
    const socket = new WebSocket(location.origin.replace(/^http/, "ws") + base + "/live", "probefleet.v1.json");
    let silent = 0;
    let well = false;
    const alive = () => {
      clearTimeout(silent);
      silent = setTimeout(() => socket.close(), 35000);
    };
    socket.onopen = () => {
      alive();
      socket.send(JSON.stringify({ t: "sub", id: "1", ch: "page:" + slug, from }));
    };
    socket.onmessage = (event) => {
      alive();
      const message = hear(event.data);
      if (message.t === "ping") socket.send('{"t":"pong"}');
      if (message.t === "ok") {
        well = true;
        tries = 0;
        from = { epoch: message.epoch, seq: message.seq };
        if (!message.recovered) ask();
      }
      if (message.t === "delta") from.seq = message.seq;
    };
    socket.onclose = () => {
      clearTimeout(silent);
      if (!well && ++tries >= 3) return stream();
      setTimeout(connect, Math.random() * Math.min(30000, 500 * 2 ** tries));
      if (well) tries++;
    };
  }

  setInterval(age, 1000);
  connect();
})();
