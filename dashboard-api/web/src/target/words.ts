import { duration, percent } from "../ui/words";
import { locale, t } from "../words/t";

/** A cell of a figure's table. Files are for programs: they are the same in every language. */
export type Cell = string | number | null | { shown: string; filed: string };

export const shown = (cell: Cell): string => {
  if (cell === null) return "–";
  if (typeof cell === "number") return plain(cell);
  return typeof cell === "string" ? cell : cell.shown;
};

export const filed = (row: Cell[]): (string | number | null)[] =>
  row.map((cell) => (cell !== null && typeof cell === "object" ? cell.filed : cell));

/** A share in percent, rounded down as percent() does. */
export function share(of: number | null, digits: number): Cell {
  const scale = 10 ** digits;
  const down = (n: number) => (Math.floor(n * 100 * scale) / scale).toFixed(digits);
  return { shown: percent(of, digits), filed: of === null ? "–" : of >= 1 ? "100%" : `${down(of)}%` };
}

const ungrouped = new Intl.NumberFormat(locale(), { useGrouping: false, maximumFractionDigits: 3 });
/** A number of a table or an axis. */
export const plain = (n: number): string => ungrouped.format(n);

/** A phrase after a colon, where English goes on in lower case. */
export const inSentence = (phrase: string): string => (locale() === "en-GB" ? phrase.toLowerCase() : phrase);

/** How long it was down, of the checks that measured. */
export const downtimeOf = ({ downtime_minutes }: { downtime_minutes: number }): string =>
  downtime_minutes > 0 ? t("{time} of downtime", { time: duration(downtime_minutes * 60) }) : t("no downtime");
