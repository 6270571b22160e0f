import { createContext, type ReactNode, useContext, useEffect, useMemo, useState } from "react";
import { createVoice } from "./voice";

const AnnounceContext = createContext<(sentence: string, about?: string) => void>(() => {});

/** Gives what says a sentence aloud; see voice.ts for what it may be about. */
export const useAnnounce = () => useContext(AnnounceContext);

/** A region that has just come to its place is not heard: what it says comes later. */
const AFTER_MS = 100;

/** The page's one polite live region, within the dialog in front if there is one: nobody hears what lies behind it. */
function createRegion() {
  const region = document.createElement("div");
  region.className = "sr said";
  region.role = "status";
  region.ariaLive = "polite";
  const speak = (text: string): void => {
    const place = [...document.querySelectorAll("dialog[open]")].at(-1) ?? document.body;
    const there = region.parentNode === place;
    region.textContent = there ? text : "";
    if (there) return;
    place.append(region);
    if (text) setTimeout(() => speak(text), AFTER_MS);
  };
  return speak;
}

export function Announcer({ children }: { children: ReactNode }) {
  const [speak] = useState(createRegion);
  const voice = useMemo(() => createVoice(speak), [speak]);
  useEffect(() => {
    speak("");
    return voice.stop;
  }, [speak, voice]);
  return <AnnounceContext value={voice.say}>{children}</AnnounceContext>;
}
