import { ArrowRight } from "lucide-react";
import "../styles/changes.css";

/** One line: what it is, and how it was and is. A title says more where the text is cut. */
export interface ChangeRow {
  key: string;
  name: string;
  /** Null: there is only one thing to say. */
  before: string | null;
  after: string;
  /** It is written as machines write it. */
  code: boolean;
  titles?: [before: string, after: string];
}

/** Something that was one thing, and then another. */
export function ChangeLine({ row }: { row: ChangeRow }) {
  const value = row.code ? "change-value mono" : "change-value";
  return (
    <li>
      <span className="change-name">{row.name}</span>
      {row.before === null ? (
        <span className={`${value} change-whole`}>{row.after}</span>
      ) : (
        <>
          <del className={value} title={row.titles?.[0]}>
            {row.before}
          </del>
          <ArrowRight size={14} aria-hidden className="change-arrow" />
          <ins className={value} title={row.titles?.[1]}>
            {row.after}
          </ins>
        </>
      )}
    </li>
  );
}
