import { ArrowDownUp } from "lucide-react";
import { t } from "../words/t";

/** Of a list that is held: how much of it has changed, and the way to see it. */
export const ReSort = ({ n, onSort }: { n: number; onSort: () => void }) =>
  n > 0 && (
    <button type="button" className="chip notice" onClick={onSort}>
      <ArrowDownUp size={14} aria-hidden />{" "}
      {t("{n, plural, one {# changed, re-sort} other {# changed, re-sort}}", { n })}
    </button>
  );
