import { ChartColumn, Download, Table } from "lucide-react";
import { type ReactNode, useId, useState } from "react";
import { AsOfNote, useAsOf } from "../ui/AsOf";
import { download } from "../ui/download";
import { ErrorNote } from "../ui/ErrorNote";
import type { Asked } from "../ui/present";
import { CopyNote } from "../ui/Stale";
import { Rich } from "../words/Rich";
import { t } from "../words/t";
import { csvOf } from "./csv";
import { type Cell, filed, shown } from "./words";

/** What a figure says as a table: for those who do not see it, and as a file. */
export interface Numbers {
  head: string[];
  /** The names of the columns in the file. */
  columns: readonly string[];
  rows: Cell[][];
}

/**
 * A figure with a sentence, its table, and the table as a CSV file. It is as high when there is nothing to show as when
 * there is, and while it is asked for: then the figure is there without what is asked for, unseen.
 */
export function FigureCard({
  title,
  file,
  summary,
  numbers,
  query,
  tools,
  children,
}: {
  title: string;
  file: string;
  summary: string;
  numbers: Numbers | null;
  query: Asked & { isPending: boolean; data: { stale_since?: string } | undefined; refetch: () => unknown };
  tools?: ReactNode;
  children: ReactNode;
}) {
  const [asTable, setAsTable] = useState(false);
  const id = useId();
  const asOf = useAsOf(query, false); // it is of a range, and does not say how things are now
  const filled = numbers !== null && numbers.rows.length > 0;
  return (
    <section className="card figure" aria-labelledby={id}>
      <div className="card-head">
        <h2 id={id}>{title}</h2>
        <CopyNote of={query.data} />
        <AsOfNote at={asOf} />
        <div className="row wrap push">
          {tools}
          <TableButtons
            title={title}
            file={file}
            asTable={asTable}
            onTable={setAsTable}
            numbers={filled ? () => numbers : null}
          />
        </div>
      </div>
      {Boolean(query.error) && !query.data && <ErrorNote error={query.error} onRetry={() => void query.refetch()} />}
      {(query.isPending || query.data) && <p className="chart-summary muted">{query.data && summary}</p>}
      {query.isPending && <div className="skeleton figure-skeleton">{children}</div>}
      {query.data && (asTable && filled ? <NumberTable title={title} numbers={numbers} /> : children)}
    </section>
  );
}

/** To see a figure as its table, or as the picture again, and to have the table as a file. */
export function TableButtons({
  title,
  file,
  asTable,
  onTable,
  numbers,
}: {
  title: string;
  file: string;
  asTable: boolean;
  onTable: (asTable: boolean) => void;
  /** Null: there are none. */
  numbers: (() => Numbers) | null;
}) {
  const save = ({ columns, rows }: Numbers) => download(file, csvOf(columns, rows.map(filed)));
  return (
    <>
      <button type="button" className="btn" aria-pressed={asTable} onClick={() => onTable(!asTable)}>
        {asTable ? <ChartColumn size={15} aria-hidden /> : <Table size={15} aria-hidden />}
        <Rich
          text={asTable ? "Chart<sr> of {title}</sr>" : "Table<sr> of {title}</sr>"}
          sr={(inner) => <span className="sr">{inner}</span>}
          title={title}
        />
      </button>
      <button type="button" className="btn" disabled={!numbers} onClick={() => numbers && save(numbers())}>
        <Download size={15} aria-hidden />{" "}
        <Rich text="CSV<sr> of {title}</sr>" sr={(inner) => <span className="sr">{inner}</span>} title={title} />
      </button>
    </>
  );
}

export function NumberTable({ title, numbers }: { title: string; numbers: Numbers }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <section className="scroll-x series-table" tabIndex={0} aria-label={t("{title} as a table", { title })}>
      <table>
        <thead>
          <tr>
            {numbers.head.map((name, i) => (
              <th key={numbers.columns[i]} scope="col" className={i > 0 ? "num" : undefined}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {numbers.rows.map((row, i) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: rows of one answer
            <tr key={i}>
              {row.map((cell, n) => (
                <td key={numbers.columns[n]} className={n > 0 ? "num" : undefined}>
                  {shown(cell)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
