import { useState } from "react";

/** Whether something is other than it was at first. */
export function useChanged(value: unknown): boolean {
  const now = JSON.stringify(value);
  const [first] = useState(now);
  return now !== first;
}
