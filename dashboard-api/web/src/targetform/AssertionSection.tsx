import { ChevronRight } from "lucide-react";
import { lazy, type RefObject, Suspense, useId, useState } from "react";
import { t } from "../words/t";
import type { Row, RowProblems } from "./assertions";
import type { FormTest } from "./useFormTest";

const AssertionRows = lazy(() => import("./AssertionRows"));

export interface AssertionProps {
  url: string;
  rows: readonly Row[];
  /** Set when a row is added: it takes the focus. */
  added: RefObject<boolean>;
  /** What is wrong with the list as a whole, and with its rows. */
  problem: string | undefined;
  problems: RowProblems;
  /** Null: not tested yet. */
  test: FormTest | null;
  onChange: (rows: Row[]) => void;
}

/** What an answer must be; folded while there is nothing that it must be. */
export function AssertionSection(props: AssertionProps) {
  const { rows, problem } = props;
  const [open, setOpen] = useState(rows.length > 0);
  const [known, setKnown] = useState(rows.length);
  if (rows.length !== known) {
    setKnown(rows.length);
    if (rows.length > known) setOpen(true); // it may come from elsewhere in the form
  }
  const folded = useId();
  const shown = open || Boolean(problem);
  return (
    <>
      <button
        type="button"
        className="fold"
        aria-expanded={shown}
        aria-controls={folded}
        onClick={() => setOpen(!shown)}
      >
        <ChevronRight size={16} aria-hidden />{" "}
        {rows.length > 0 ? t("Assertions ({n})", { n: rows.length }) : t("Assertions")}
      </button>
      <div id={folded} className="folded" hidden={!shown}>
        {shown && (
          <Suspense>
            <AssertionRows {...props} />
          </Suspense>
        )}
      </div>
    </>
  );
}
