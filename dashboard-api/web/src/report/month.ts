import { locale } from "../words/t";

/** Months are written as in 2026-03. */
export const isMonth = (text: string): boolean => /^\d{4}-(0[1-9]|1[0-2])$/.test(text);

/** The month that is so many after another one. */
export function monthPlus(month: string, months: number): string {
  const [year = 0, number = 1] = month.split("-").map(Number);
  return new Date(Date.UTC(year, number - 1 + months, 1)).toISOString().slice(0, 7);
}

/** The month that it is in a time zone. */
export function monthAt(at: number, zone: string): string {
  const parts = new Intl.DateTimeFormat("en-CA", { timeZone: zone, year: "numeric", month: "2-digit" }).formatToParts(
    at,
  );
  const part = (type: string) => parts.find((p) => p.type === type)?.value ?? "";
  return `${part("year")}-${part("month")}`;
}

const named = new Intl.DateTimeFormat(locale(), { month: "long", year: "numeric", timeZone: "UTC" });

/** March 2026. What is no month is shown as it is. */
export const monthName = (month: string): string => (isMonth(month) ? named.format(new Date(`${month}-01`)) : month);

/** The IANA name of the browser's time zone. */
export const browserZone = (): string => new Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";
