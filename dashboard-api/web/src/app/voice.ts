import { t } from "../words/t";

const EVERY_MS = 5_000;

/**
 * What a live region says, once per five seconds at most. Of sentences that come meanwhile it says
 * the newest, with how many that stands for; those that are to be said whole are all said, and first.
 */
export function createVoice(speak: (said: string) => void) {
  const whole: string[] = [];
  let waiting: string | null = null;
  let more = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const next = (): string | null => {
    if (whole.length > 0) return whole.splice(0).join(" ");
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
    say(sentence: string, all = false) {
      if (all) whole.push(sentence);
      else {
        if (waiting !== null) more++;
        waiting = sentence;
      }
      timer ??= setTimeout(flush, 0);
    },
    stop() {
      clearTimeout(timer);
      timer = undefined;
    },
  };
}
