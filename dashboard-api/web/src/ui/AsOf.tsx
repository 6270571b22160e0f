import { TriangleAlert } from "lucide-react";
import { useLive } from "../app/live";
import { Rich } from "../words/Rich";
import { type Asked, presentUntil } from "./present";
import { Ago, usePassed } from "./time";

/**
 * Of when an answer is that is not the present any more, by the server's clock; null while it is the present. What rests on it
 * is not known then. Until `told` every change of it was told.
 */
export function useAsOf({ error, dataUpdatedAt }: Asked, every: number | false, told = 0): number | null {
  const { store } = useLive();
  const at = dataUpdatedAt && Math.max(store.serverTime(dataUpdatedAt), told);
  const passed = usePassed(presentUntil({ error, dataUpdatedAt: at }, every));
  return passed && at > 0 ? at : null;
}

/** Says of what is shown that it is old, and of when. */
export function AsOfNote({ at }: { at: number | null }) {
  if (at === null) return null;
  return (
    <span className="copy-note as-of">
      <TriangleAlert size={13} aria-hidden />
      <span>
        <Rich text="as of {ago}, could not be refreshed" ago={<Ago at={at} />} />
      </span>
    </span>
  );
}
