// Runs in the page before its own scripts: keeps account of frames, long tasks and of what was shown when.
export function recorder() {
  const afterFrame = (then) =>
    requestAnimationFrame(() => {
      // The task behind the callbacks of a frame: what they changed has been laid out and painted by then.
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = then;
      port2.postMessage(0);
    });
  const bench = {
    at: {}, // when the first rows were painted, and when the page said it is live
    tasks: [], // longer than 50 ms
    states: [], // of targets, as they changed
    tab: [], // what its title and its icon said, as they changed
    began: 0,
    answer: null,
  };
  window.bench = bench;
  new PerformanceObserver((list) => {
    for (const { startTime, duration } of list.getEntries()) bench.tasks.push({ at: startTime, ms: duration });
  }).observe({ type: "longtask", buffered: true });

  const known = new Map();
  let counting = null;
  const said = {}; // by the tab
  const lookAtTab = () => {
    const now = { title: document.title, icon: document.querySelector("link[rel=icon]")?.href };
    for (const [what, text] of Object.entries(now)) {
      const before = said[what];
      said[what] = text;
      if (before !== undefined && before !== text) afterFrame(() => bench.tab.push({ what, text, at: Date.now() }));
    }
  };
  const look = (changes) => {
    const once = (name, selector) => {
      if (bench.at[name] || !document.querySelector(selector)) return;
      bench.at[name] = Number.POSITIVE_INFINITY;
      afterFrame(() => {
        bench.at[name] = performance.now();
      });
    };
    if (!(bench.at.rows > 0)) once("rows", "[data-row]");
    if (!(bench.at.live > 0)) once("live", "[data-link=live]");
    const rows = new Set();
    if (changes.some(({ target }) => document.head?.contains(target))) lookAtTab();
    for (const { target } of changes) {
      const row = (target.nodeType === 1 ? target : target.parentElement)?.closest(".rows > li");
      if (row) rows.add(row);
      if (row && target.nodeName === "path") counting?.add(`${row.ariaPosInSet} ${performance.now()}`);
    }
    for (const row of rows) {
      const id = Number(row.querySelector("[data-row]")?.dataset.row);
      const state = /s-(\w+)/.exec(row.querySelector(".word")?.className ?? "")?.[1];
      if (!id || !state) continue;
      const before = known.get(id);
      known.set(id, state);
      if (before && before !== state) afterFrame(() => bench.states.push({ id, state, at: Date.now() }));
    }
  };
  const everything = { subtree: true, childList: true, attributes: true, characterData: true };
  new MutationObserver(look).observe(document, everything);

  let frames = [];
  let running = false;
  bench.begin = () => {
    frames = [];
    counting = new Set();
    running = true;
    bench.began = performance.now();
    const next = (now) => {
      frames.push(now);
      if (running) requestAnimationFrame(next);
    };
    requestAnimationFrame(next);
  };
  bench.end = () => {
    running = false;
    const rows = counting.size;
    counting = null;
    return {
      frames: frames.slice(1).map((now, i) => now - frames[i]),
      tasks: bench.tasks.filter((task) => task.at >= bench.began).map((task) => task.ms),
      rows,
    };
  };

  /** Waits from the next key or click until a condition has held for a frame; `answer` is a promise of the ms. */
  bench.await = (holds) => {
    bench.answer = new Promise((resolve) => {
      const events = ["keydown", "pointerup", "change"];
      const begin = (event) => {
        for (const name of events) removeEventListener(name, begin, true);
        bench.began = event.timeStamp;
        const shown = () => resolve(performance.now() - bench.began);
        const check = () => (holds() ? afterFrame(shown) : requestAnimationFrame(check));
        requestAnimationFrame(check);
      };
      for (const name of events) addEventListener(name, begin, true);
    });
  };

  /** The page as it stands, with its styles and without its scripts. */
  bench.copy = () => {
    const styles = [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules]).map((rule) => rule.cssText);
    const page = document.documentElement.cloneNode(true);
    for (const gone of page.querySelectorAll("script, link")) gone.remove();
    page.querySelector("head").insertAdjacentHTML("beforeend", `<style>${styles.join("\n")}</style>`);
    return page.outerHTML;
  };

  /** Changes so many bars a second, and every relative time once a second, by hand. */
  bench.pretend = (perSecond) => {
    const bars = [...document.querySelectorAll(".rows svg.ticks")];
    const times = [...document.querySelectorAll(".rows time")];
    let n = 0;
    const turn = () => {
      const path = bars[n++ % bars.length]?.querySelector("path");
      const d = path?.getAttribute("d") ?? "";
      path?.setAttribute("d", d.endsWith(" ") ? d.trimEnd() : `${d.replace(/\.6/, n % 2 ? ".61" : ".6")} `);
    };
    if (perSecond > 0) setInterval(turn, 1000 / perSecond);
    setInterval(() => {
      for (const time of times) time.textContent = `${n++} s`;
    }, 1000);
  };
}
