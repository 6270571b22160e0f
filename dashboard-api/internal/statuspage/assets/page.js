// Keeps an open page as new as it says: a websocket, else a stream of events, else asking again
// and again. What nothing confirms any more is shown as not known. The page is complete without it.
"use strict";
(() => {
  const { base, slug, none, cut, cutNote, made } = document.body.dataset;
  const believed = 45000; // for how long what was last heard is evidence
  let tag = document.body.dataset.tag;
  let wanted = tag; // what the page should be, by what was last heard
  let late = false; // it is not, and could not be loaded yet
  let heardAt = Math.min(Date.now(), Date.parse(made)); // the document may come out of a cache, or of a session of yesterday
  let askedAt = 0;
  let undo = []; // gives the page the look back that it had before it was cut off
  let reloading = false;
  const [mostSockets, mostStreams] = [3, 5]; // that fail in a row, before the next way is taken
  let tries = 0; // websockets that were not answered
  let failed = 0; // streams of events that did not last
  let told = ""; // by a stream: from there another one goes on
  const icon = document.querySelector("link[rel=icon]");
  new Image().src = icon.dataset.cut; // kept by the browser: when it is needed, nothing can be loaded
  const words = new Intl.RelativeTimeFormat(document.documentElement.lang, { numeric: "always" });

  function age() {
    const line = document.getElementById("age");
    if (!line || !line.dataset.at) return;
    const seconds = Math.max(0, Math.round((Date.now() - Date.parse(line.dataset.at)) / 1000));
    const text = seconds < 120 ? words.format(-seconds, "second") : words.format(-Math.floor(seconds / 60), "minute");
    line.textContent = line.dataset.rel.replace("{0}", text);
  }

  // Instants that were put there are written in the zone that the reader has chosen: by reader.js.
  const fresh = () => document.dispatchEvent(new Event("fresh"));

  function restore() {
    for (const back of undo.splice(0)) back();
  }

  // Something current was heard: what is shown is true, unless it is known to be old.
  function heard(at = Date.now()) {
    if (late) return;
    heardAt = at;
    restore();
  }

  // Nobody may take an old page for a good one: whoever hears nothing knows nothing.
  function doubt() {
    if (undo.length || Date.now() - heardAt < believed) return;
    const banner = document.getElementById("banner");
    for (const box of [banner, ...document.querySelectorAll("#systems .state")]) {
      const icon = box.querySelector("svg");
      if (!icon) continue; // it says nothing
      const use = icon.querySelector("use");
      const text = box.querySelector(".words, b");
      const dress = ([classes, said, drawn, shape]) => {
        box.className = classes;
        text.textContent = said;
        icon.setAttribute("class", drawn);
        use.setAttribute("href", shape);
      };
      const before = [box.className, text.textContent, icon.getAttribute("class"), use.getAttribute("href")];
      undo.push(() => dress(before));
      dress([box.classList[0] + " no_data", box === banner ? cut : none, "i no_data", "#i-no_data"]);
    }
    for (const hand of document.querySelectorAll("#systems .state small, #age:not([data-at])")) {
      hand.hidden = true; // what the operator stated is not known to stand
      undo.push(() => (hand.hidden = false));
    }
    const title = document.title;
    undo.push(() => (document.title = title));
    document.title = document.querySelector("h1").textContent + ": " + cut;
    const believedIcon = icon.getAttribute("href");
    undo.push(() => icon.setAttribute("href", believedIcon));
    icon.setAttribute("href", icon.dataset.cut);
    const note = document.createElement("p");
    note.className = "note cut";
    note.textContent = cutNote;
    undo.push(() => note.remove());
    banner.after(note);
  }

  // An answer that something in between has kept for long is none.
  async function get(url, headers) {
    const answer = await fetch(url, { headers, cache: "no-cache" });
    if (!answer.ok || Number(answer.headers.get("Age")) * 1000 >= believed) throw new Error(url);
    return answer;
  }

  // When an answer that came just now was given.
  const given = (answer) => Date.now() - Number(answer.headers.get("Age")) * 1000;

  // The page itself says it all, in its own language: what changed is taken from it.
  async function reload() {
    late = true;
    if (reloading) return;
    reloading = true;
    await new Promise((done) => setTimeout(done, Math.random() * 800));
    try {
      const answer = await get(location.href, { Accept: "text/html" });
      const at = given(answer);
      const whole = new DOMParser().parseFromString(await answer.text(), "text/html");
      const states = (root) => new Map([...root.querySelectorAll("#systems li[id]")].map((row) => [row.id, row.querySelector(".state").className]));
      const before = states(document);
      const open = [...document.querySelectorAll("details[open]")].map((d) => d.closest("li").id);
      restore();
      document.querySelector("main").replaceWith(document.adoptNode(whole.querySelector("main")));
      fresh();
      document.title = whole.title;
      icon.setAttribute("href", whole.querySelector("link[rel=icon]").getAttribute("href"));
      tag = whole.body.dataset.tag;
      heardAt = at;
      late = wanted !== tag; // another node may be a moment behind: it is asked again
      for (const id of open) document.getElementById(id)?.querySelector("details")?.setAttribute("open", "");
      for (const [id, state] of states(document)) if (before.has(id) && before.get(id) !== state) document.getElementById(id).classList.add("changed");
    } catch {
      // It is tried again.
    } finally {
      reloading = false;
    }
  }

  function take(item, at) {
    const line = document.getElementById("age");
    const instant = document.getElementById("at");
    if (line && item.evidence_at) line.dataset.at = item.evidence_at;
    if (instant && item.evidence_at) {
      instant.dateTime = instant.title = instant.textContent = item.evidence_at;
      fresh();
    }
    wanted = item.tag;
    if (wanted !== tag) reload();
    else {
      late = false;
      heard(at);
    }
    age();
  }

  function hear(text) {
    const message = JSON.parse(text);
    if (message.t === "resync") reload();
    else if (message.t === "delta") for (const op of message.ops) op.item && take(op.item);
    else if (message.t === "ping") heard();
    return message;
  }

  async function ask() {
    askedAt = Date.now();
    try {
      const answer = await get(base + "/state.json");
      const at = given(answer);
      take(await answer.json(), at);
    } catch {
      // It is asked again.
    }
  }

  // From time to time it is tried whether there is a better way again.
  function poll() {
    ask();
    const asking = setInterval(ask, 10000);
    const again = () => {
      clearInterval(asking);
      [tries, failed] = [mostSockets - 1, mostStreams - 1]; // each way is tried once
      connect();
    };
    setTimeout(again, 240000 + Math.random() * 120000);
  }

  // How long to wait before try n: longer each time, and never all readers of a node together.
  const pause = (n) => Math.random() * Math.min(30000, 500 * 2 ** n);

  function stream() {
    if (!window.EventSource) return poll();
    const events = new EventSource(base + "/events" + (told && "?from=" + encodeURIComponent(told)));
    let silent = 0;
    const end = () => {
      clearTimeout(silent);
      events.close();
    };
    const alive = () => {
      clearTimeout(silent);
      silent = setTimeout(() => {
        end();
        poll();
      }, 35000);
    };
    alive();
    events.onopen = ask; // what happened before it was there
    events.onmessage = (event) => {
      alive();
      if (event.lastEventId) told = event.lastEventId;
      if (hear(event.data).t === "ping") failed = 0; // it has lasted: streams that are cut after a moment are no way
    };
    // It would come back by itself, without a pause that grows.
    events.onerror = () => {
      const refused = events.readyState === EventSource.CLOSED;
      end();
      if (refused || ++failed >= mostStreams) poll();
      else setTimeout(stream, pause(failed));
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
        ask(); // also when no frame was missed: while nobody reads a page, none is made of it
      }
      if (message.t === "delta") from.seq = message.seq;
    };
    socket.onclose = () => {
      clearTimeout(silent);
      if (!well && ++tries >= mostSockets) return stream();
      setTimeout(connect, pause(tries));
      if (well) tries++;
    };
  }

  function look() {
    age();
    doubt();
    const wait = late ? 3000 : 10000;
    if ((late || undo.length) && !reloading && Date.now() - askedAt >= wait) ask();
  }

  look();
  setInterval(look, 1000);
  document.addEventListener("visibilitychange", () => !document.hidden && Date.now() - heardAt > 15000 && ask());
  connect();
})();
