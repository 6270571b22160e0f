type Cell = string | number | null;

// What begins so is taken for a formula by spreadsheets, wherever it came from.
const formula = /^[=+\-@\t\r]/;

function cellOf(cell: Cell): string {
  if (cell === null) return "";
  if (typeof cell === "number") return String(cell);
  const text = formula.test(cell) ? `'${cell}` : cell;
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** A table as RFC 4180 has it. */
export const csvOf = (head: readonly string[], rows: readonly (readonly Cell[])[]): string =>
  [head, ...rows]
    .map((row) => row.map(cellOf).join(","))
    .join("\r\n")
    .concat("\r\n");
