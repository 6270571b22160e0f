const FIRST_MS = 500;
const LIMIT_MS = 30_000;

/** How long to wait before attempt n (from 0): full jitter over 500 ms · 2ⁿ, never above 30 s. */
export function backoffMs(attempt: number, random: () => number = Math.random): number {
  const ceiling = Math.min(LIMIT_MS, FIRST_MS * 2 ** Math.min(attempt, 16));
  return Math.round(random() * ceiling);
}
