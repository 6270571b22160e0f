import { ChevronRight } from "lucide-react";
import { type ReactNode, Suspense, useId, useState } from "react";

/** A part of the form that is folded while nothing is in it; what is wrong in it unfolds it. */
export function Fold({
  title,
  begins,
  wrong,
  folded,
  children,
}: {
  title: string;
  /** Whether it is open at first. */
  begins: boolean;
  wrong: boolean;
  /** What has to be seen while the rest is folded. */
  folded?: ReactNode;
  children: ReactNode;
}) {
  const [open, setOpen] = useState(begins);
  const id = useId();
  const shown = open || wrong;
  return (
    <>
      <button type="button" className="fold" aria-expanded={shown} aria-controls={id} onClick={() => setOpen(!shown)}>
        <ChevronRight size={16} aria-hidden /> {title}
      </button>
      {!shown && folded}
      <div id={id} className="folded" hidden={!shown}>
        {shown && <Suspense fallback={<span className="skeleton" style={{ height: 180 }} />}>{children}</Suspense>}
      </div>
    </>
  );
}
