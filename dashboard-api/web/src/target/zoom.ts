import { readable, written } from "../known/at";

/** A part of the time that is looked at closely; in Unix seconds. */
export interface Zoom {
  from: number;
  to: number;
}

const DAY = 86_400;
export const shortest = 60;
const longest = 90 * DAY;

/** What an address asks for: two instants, in order, neither too near to each other nor too far apart. */
export function zoomOf(search: { from?: unknown; to?: unknown }): Zoom | null {
  if (!readable(search.from) || !readable(search.to)) return null;
  return within({ from: Date.parse(search.from) / 1000, to: Date.parse(search.to) / 1000 });
}

/** Whole seconds; null where there is too little, or too much, to show. */
export function within({ from, to }: Zoom): Zoom | null {
  const zoom = { from: Math.floor(from), to: Math.ceil(to) };
  const length = zoom.to - zoom.from;
  return length >= shortest && length <= longest ? zoom : null;
}

/** As an address says it. */
export const asked = ({ from, to }: Zoom): { from: string; to: string } => ({
  from: written(from * 1000),
  to: written(to * 1000),
});

/** As the name of a file says it. */
export const fileSpan = ({ from, to }: Zoom): string =>
  [from, to].map((at) => written(at * 1000).replaceAll(/[:-]/g, "")).join("-");

const steps = [30, 60, 120, 300, 600, 1800, 3600, 10_800, 21_600, 43_200, DAY];

/**
 * A step that makes about so many of the range, none without a check of the target. Figures of over two days are kept
 * by the hour, those of over 45 by the day.
 */
export function zoomStep({ from, to }: Zoom, intervalS: number, about: number): number {
  const length = to - from;
  const least = length > 45 * DAY ? DAY : length > 2 * DAY ? 3600 : 30;
  const step = steps.find((one) => one >= least && one * about >= length) ?? DAY;
  return Math.max(step, Math.ceil(intervalS / least) * least);
}

/** That step, and wider ones: of what is long over only hours are kept, and then days. */
export const coarser = (step: number): number[] => [
  step,
  ...[3600, DAY].filter((kept) => kept > step || step % kept !== 0).map((kept) => Math.ceil(step / kept) * kept),
];

/** Whole steps that hold the range. */
export const stepped = ({ from, to }: Zoom, step: number): Zoom => ({
  from: Math.floor(from / step) * step,
  to: Math.ceil(to / step) * step,
});
