import { t } from "../words/t";

const EVERY_MS = 5_000;
/** Parts of a page that fail for one reason do so within it: that is heard once. */
const TOGETHER_MS = 1_000;

/** Of what many of a kind are about. */
export const CHANGES = "changes";

/**
 * What a live region says, once per five seconds at most. Of changes that come meanwhile it says the newest, with
 * how many that stands for. All else is said together, and first: nothing that comes meanwhile takes its place but
 * something newer about the same.
 */
export function createVoice(speak: (said: string) => void) {
  const whole = new Map<string, string>();
  let lately: { at: number; said: ReadonlySet<string> } = { at: 0, said: new Set() };
  let waiting: string | null = null;
  let more = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const next = (): string | null => {
    if (whole.size > 0) {
      lately = { at: Date.now(), said: new Set(whole.values()) };
      whole.clear();
      return [...lately.said].join(" ");
    }
    const said =
      waiting !== null && more > 0
        ? `${waiting} ${t("{n, plural, one {# more changed.} other {# more changed.}}", { n: more })}`
        : waiting;
    waiting = null;
    more = 0;
    return said;
  };
  const flush = () => {
    timer = undefined;
    const said = next();
    if (said === null) return;
    speak(said);
    timer = setTimeout(flush, EVERY_MS);
  };
  return {
    /** What it is about is the sentence itself if nothing is said of that; "" takes back what waits to be said of it. */
    say(sentence: string, about = sentence) {
      if (about === CHANGES) {
        if (waiting !== null) more++;
        waiting = sentence;
      } else {
        whole.delete(about);
        if (!sentence || (lately.said.has(about) && Date.now() - lately.at < TOGETHER_MS)) return;
        whole.set(about, sentence);
      }
      timer ??= setTimeout(flush, 0);
    },
    stop() {
      clearTimeout(timer);
      timer = undefined;
    },
  };
}
