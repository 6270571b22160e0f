import { encodeQR } from "qr";

/** A text as a QR code: how many squares a side has, and the dark ones as a path of runs. Made here: the text is a secret. */
export function qrPath(text: string): { size: number; path: string } {
  const rows = encodeQR(text, "raw", { ecc: "medium", border: 3 });
  const runs: string[] = [];
  rows.forEach((row, y) => {
    for (let x = 0; x < row.length; x++) {
      if (!row[x]) continue;
      let end = x;
      while (row[end]) end++;
      runs.push(`M${x} ${y}h${end - x}v1H${x}z`);
      x = end;
    }
  });
  return { size: rows.length, path: runs.join("") };
}
