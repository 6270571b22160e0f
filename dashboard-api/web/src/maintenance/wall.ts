// Times on the wall of a zone. A wall time is held as the milliseconds that it would be in UTC.

const formats = new Map<string, Intl.DateTimeFormat>();

/** How far a zone is ahead of UTC at an instant, in ms. */
export function offsetAt(zone: string, at: number): number {
  let format = formats.get(zone);
  if (!format) {
    format = new Intl.DateTimeFormat("en-US", {
      timeZone: zone,
      hourCycle: "h23",
      year: "numeric",
      month: "2-digit",
      day: "2-digit",
      hour: "2-digit",
      minute: "2-digit",
      second: "2-digit",
    });
    formats.set(zone, format);
  }
  const part: Record<string, number> = {};
  for (const { type, value } of format.formatToParts(at)) part[type] = Number(value);
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = part;
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(at / 1000) * 1000;
}

const DAY = 86_400_000;

/** The first and the last instant at which the clock shows this; the change itself where the change skips it. */
export function instants(wall: number, zone: string): { first: number; last: number } {
  const offsets = [...new Set([offsetAt(zone, wall - 1.5 * DAY), offsetAt(zone, wall + 1.5 * DAY)])];
  const found = offsets.map((o) => wall - o).filter((at) => wall - at === offsetAt(zone, at));
  if (found.length > 0) return { first: Math.min(...found), last: Math.max(...found) };
  let low = wall - 1.5 * DAY;
  let high = wall + 1.5 * DAY;
  const before = offsetAt(zone, low);
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (offsetAt(zone, middle) === before) low = middle;
    else high = middle;
  }
  return { first: high, last: high };
}

/** "2026-03-29T02:30" or with seconds, as a wall time; NaN for anything else. */
export const wallOf = (text: string): number =>
  /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?$/.test(text)
    ? Date.parse(`${text.slice(0, 16)}:${text.slice(17) || "00"}Z`)
    : Number.NaN;

/** What the clock of a zone shows at an instant, for a field of a date and time. */
export const fieldOf = (at: number, zone: string): string =>
  new Date(at + offsetAt(zone, at)).toISOString().slice(0, 16);
