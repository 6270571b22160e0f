import { createContext, type ReactNode, useContext, useEffect, useMemo, useState } from "react";
import { t } from "../words/t";

const EVERY_MS = 5_000;
const AnnounceContext = createContext<(sentence: string) => void>(() => {});

export const useAnnounce = () => useContext(AnnounceContext);

/**
 * The page's one polite live region. It says one sentence per five seconds at
 * most: the newest that is waiting, with how many it stands for.
 */
export function Announcer({ children }: { children: ReactNode }) {
  const [said, setSaid] = useState("");
  const voice = useMemo(() => createVoice(setSaid), []);
  useEffect(() => () => voice.stop(), [voice]);
  return (
    <AnnounceContext value={voice.say}>
      {children}
      <div className="sr" aria-live="polite" role="status">
        {said}
      </div>
    </AnnounceContext>
  );
}

function createVoice(speak: (sentence: string) => void) {
  let waiting: string | null = null;
  let more = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const flush = () => {
    timer = undefined;
    if (waiting === null) return;
    speak(
      more > 0 ? `${waiting} ${t("{n, plural, one {# more changed.} other {# more changed.}}", { n: more })}` : waiting,
    );
    waiting = null;
    more = 0;
    timer = setTimeout(flush, EVERY_MS);
  };
  return {
    say(sentence: string) {
      if (waiting !== null) more++;
      waiting = sentence;
      timer ??= setTimeout(flush, 0);
    },
    stop() {
      clearTimeout(timer);
      timer = undefined;
    },
  };
}
