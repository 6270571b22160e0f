import { createContext, type ReactNode, useContext, useEffect, useMemo, useState } from "react";
import { createVoice } from "./voice";

const AnnounceContext = createContext<(sentence: string, whole?: boolean) => void>(() => {});

export const useAnnounce = () => useContext(AnnounceContext);

/** The page's one polite live region. */
export function Announcer({ children }: { children: ReactNode }) {
  const [said, setSaid] = useState({ text: "", n: 0 });
  const voice = useMemo(() => createVoice((text) => setSaid(({ n }) => ({ text, n: n + 1 }))), []);
  useEffect(() => () => voice.stop(), [voice]);
  return (
    <AnnounceContext value={voice.say}>
      {children}
      <div className="sr" aria-live="polite" role="status">
        <span key={said.n}>{said.text}</span>
      </div>
    </AnnounceContext>
  );
}
