import { ask } from "./api/early";
import { wantedLanguage } from "./app/preferences";
import { direction, speak } from "./words/t";

ask(location.pathname + location.search, (path) =>
  fetch(path, {
    headers: { accept: "application/json" },
    credentials: "same-origin",
    signal: AbortSignal.timeout(20_000),
  }),
);
// The words come first: what is imported after them may speak while it is loaded.
const language = wantedLanguage();
await speak(language).catch(() => {
  // Better in English than not at all.
});
document.documentElement.lang = language;
document.documentElement.dir = direction();
// What the server says in English alone, other languages put together from its parts.
const because = language === "en" ? null : import("./ui/because").catch(() => null);
const [{ start }] = await Promise.all([import("./start"), because]);
await start();
