import { useEffect, useId } from "react";
import { useAnnounce } from "./announcer";

/** Says a sentence that a part of the page shows, and each that takes its place: of what comes too fast the newest. */
export function useSaid(sentence: string): void {
  const announce = useAnnounce();
  const id = useId();
  useEffect(() => {
    announce(sentence, id);
    return () => announce("", id); // what is shown no more is not said any more
  }, [announce, sentence, id]);
}
