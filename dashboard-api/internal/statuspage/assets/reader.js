// What a reader chooses for themselves and their browser keeps: colours, and of where the times are. The page is
// complete without it. It is waited for, so that nothing is drawn in other colours first. Forms and refusals have
// it, too: they follow what was chosen on the page.
"use strict";
(() => {
  const root = document.documentElement;
  const choices = { theme: ["auto", "light", "dark"], zone: ["page", "utc", "browser"] };
  const chosen = { theme: root.dataset.theme, zone: "page" };
  const key = (what) => "probefleet.page." + what; // the dashboard, which may be on the same host, has its own
  for (const what in choices) {
    try {
      const kept = localStorage.getItem(key(what));
      if (choices[what].includes(kept)) chosen[what] = kept;
    } catch {
      // This browser keeps nothing: a choice lasts as long as the page is open.
    }
  }
  root.dataset.theme = chosen.theme;

  const clock = (timeZone) => new Intl.DateTimeFormat("sv", { timeZone, dateStyle: "short", timeStyle: "medium" });

  // Writes every instant as the page does, in the zone that was chosen, and says which that is.
  function times() {
    const page = document.body.dataset.zone;
    let zone = { page, utc: "UTC", browser: Intl.DateTimeFormat().resolvedOptions().timeZone }[chosen.zone];
    let at;
    try {
      at = clock(zone);
    } catch {
      zone = "UTC"; // this browser does not know the other
      at = clock(zone);
    }
    for (const time of document.querySelectorAll("time"))
      time.textContent = at.format(new Date(time.dateTime)).slice(0, time.id === "at" ? 19 : 16); // seconds there alone
    const line = document.getElementById("zone");
    const words = zone === page ? line.dataset.same : line.dataset.other;
    line.textContent = words.replace("{0}", zone).replace("{1}", page);
  }

  document.addEventListener("fresh", times); // page.js has put instants there
  document.addEventListener("DOMContentLoaded", () => {
    const offered = document.querySelector(".choices");
    if (!offered) return; // a form, or a refusal: it has no times, either
    for (const select of document.querySelectorAll(".choices select")) {
      select.value = chosen[select.name];
      if (select.selectedIndex < 0) select.selectedIndex = 0; // UTC, on a page that is in UTC
      select.addEventListener("change", () => {
        chosen[select.name] = select.value;
        try {
          localStorage.setItem(key(select.name), select.value);
        } catch {
          // As above.
        }
        root.dataset.theme = chosen.theme;
        times();
      });
    }
    offered.hidden = false;
    times();
  });
})();
