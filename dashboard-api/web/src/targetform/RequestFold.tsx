import { ChevronRight } from "lucide-react";
import { lazy, Suspense, useId, useState } from "react";
import { t } from "../words/t";
import type { Errors } from "./form";
import { isPlain, type RequestDraft } from "./request";

const RequestFields = lazy(() => import("./RequestFields"));

/** The request of an HTTP target: folded while it is as it is by default. */
export function RequestFold({
  draft,
  errors,
  onChange,
}: {
  draft: RequestDraft;
  errors: Errors;
  onChange: (change: Partial<RequestDraft>) => void;
}) {
  const [open, setOpen] = useState(() => !isPlain(draft));
  const folded = useId();
  const shown = open || Object.keys(errors).some((field) => field.startsWith("/"));
  return (
    <>
      <button
        type="button"
        className="fold"
        aria-expanded={shown}
        aria-controls={folded}
        onClick={() => setOpen(!shown)}
      >
        <ChevronRight size={16} aria-hidden /> {t("Request: method, headers, body, sign-in")}
      </button>
      <div id={folded} className="folded" hidden={!shown}>
        {shown && (
          <Suspense fallback={<span className="skeleton" style={{ height: 180 }} />}>
            <RequestFields draft={draft} errors={errors} onChange={onChange} />
          </Suspense>
        )}
      </div>
    </>
  );
}
