import { instants, wallOf } from "./wall";

export interface Terms {
  starts_at: string;
  zone: string;
  duration_s: number;
  rrule: string;
}

export interface Occurrence {
  from: number;
  to: number;
}

const DAY = 86_400_000;
const AHEAD_DAYS = 10 * 366;
const days = ["SU", "MO", "TU", "WE", "TH", "FR", "SA"];

interface Rule {
  freq: string;
  interval: number;
  count: number;
  until: number;
  byDay: { nth: number; day: number }[];
  byMonthDay: number[];
}

/** The rule, or null where it has parts that are worked out by the server only. */
function parse(text: string): Rule | null {
  const rule: Rule = { freq: "", interval: 1, count: 0, until: Number.POSITIVE_INFINITY, byDay: [], byMonthDay: [] };
  for (const part of text.split(";")) {
    const [name = "", value = ""] = part.split("=");
    if (name === "FREQ" && /^(DAILY|WEEKLY|MONTHLY)$/.test(value)) rule.freq = value;
    else if (name === "INTERVAL" && /^[1-9]\d{0,3}$/.test(value)) rule.interval = Number(value);
    else if (name === "COUNT" && /^[1-9]\d{0,4}$/.test(value)) rule.count = Number(value);
    else if (name === "UNTIL" && /^\d{8}$/.test(value))
      rule.until = Date.parse(`${value.slice(0, 4)}-${value.slice(4, 6)}-${value.slice(6)}T23:59:59Z`);
    else if (name === "BYMONTHDAY" && /^-?\d{1,2}(,-?\d{1,2})*$/.test(value))
      rule.byMonthDay = value.split(",").map(Number);
    else if (name === "BYDAY") {
      for (const one of value.split(",")) {
        const found = /^([+-]?[1-5])?([A-Z]{2})$/.exec(one);
        const day = days.indexOf(found?.[2] ?? "");
        if (!found || day < 0) return null;
        rule.byDay.push({ nth: Number(found[1] ?? 0), day });
      }
    } else return null;
  }
  if (rule.freq === "" || Number.isNaN(rule.until)) return null;
  if (rule.freq === "WEEKLY" && rule.byMonthDay.length > 0) return null;
  if (rule.freq !== "MONTHLY" && rule.byDay.some(({ nth }) => nth !== 0)) return null;
  return rule;
}

const monthDays = (d: Date) => new Date(Date.UTC(d.getUTCFullYear(), d.getUTCMonth() + 1, 0)).getUTCDate();

/** Whether the rule names a day, given when it starts. */
function names(rule: Rule, day: Date, start: Date): boolean {
  const apart = Math.round((midnight(day) - midnight(start)) / DAY);
  const date = day.getUTCDate();
  const length = monthDays(day);
  const onDay = rule.byDay.some(({ nth, day: weekday }) => {
    if (weekday !== day.getUTCDay()) return false;
    return nth === 0 || (nth > 0 ? Math.ceil(date / 7) === nth : Math.ceil((length - date + 1) / 7) === -nth);
  });
  const onDate = rule.byMonthDay.some((n) => (n > 0 ? n === date : length + n + 1 === date));
  if (rule.byDay.length > 0 && !onDay) return false;
  if (rule.byMonthDay.length > 0 && !onDate) return false;
  if (rule.freq === "DAILY") return apart % rule.interval === 0;
  if (rule.freq === "WEEKLY") {
    const monday = (d: Date) => midnight(d) - ((d.getUTCDay() + 6) % 7) * DAY;
    if (Math.round((monday(day) - monday(start)) / (7 * DAY)) % rule.interval !== 0) return false;
    return rule.byDay.length > 0 || day.getUTCDay() === start.getUTCDay();
  }
  const months = (day.getUTCFullYear() - start.getUTCFullYear()) * 12 + day.getUTCMonth() - start.getUTCMonth();
  if (months % rule.interval !== 0) return false;
  return rule.byDay.length + rule.byMonthDay.length > 0 || date === start.getUTCDate();
}

const midnight = (d: Date) => Date.UTC(d.getUTCFullYear(), d.getUTCMonth(), d.getUTCDate());

/**
 * When a window holds next, from an instant on, as the server reckons: by the clock on the wall,
 * a beginning that a change skips at the change, what comes twice from its first time to its
 * last. Null: only the server can tell. Without a date to begin at: none.
 */
export function occurrences(terms: Terms, after: number, most = 5): Occurrence[] | null {
  const start = wallOf(terms.starts_at);
  if (!Number.isFinite(start) || !(terms.duration_s > 0)) return [];
  const found: Occurrence[] = [];
  const take = (wall: number) => {
    const from = instants(wall, terms.zone).first;
    const to = instants(wall + terms.duration_s * 1000, terms.zone).last;
    if (to > from && to > after) found.push({ from, to });
  };
  if (terms.rrule === "") {
    take(start);
    return found;
  }
  const rule = parse(terms.rrule);
  if (!rule) return null;
  const startDate = new Date(start);
  if (rule.count > 0 && !names(rule, startDate, startDate)) return null;
  let n = 0;
  for (let d = 0; d < AHEAD_DAYS && found.length < most; d++) {
    const wall = start + d * DAY;
    if (d > 0 && wall > rule.until) break;
    if (d > 0 && !names(rule, new Date(wall), startDate)) continue; // the first is at the beginning in any case
    if (rule.count > 0 && n++ >= rule.count) break;
    take(wall);
  }
  return found;
}
