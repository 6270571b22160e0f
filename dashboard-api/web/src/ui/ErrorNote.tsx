import { RotateCw } from "lucide-react";
import { ApiError } from "../api/client";
import { Rich } from "../words/Rich";
import { t } from "../words/t";
import { StateIcon } from "./StateIcon";

/** What went wrong, the request's id for whoever looks into it, and a way to try again. */
export function ErrorNote({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  const problem = error instanceof ApiError ? error.problem : null;
  return (
    <div className="empty" role="alert">
      <StateIcon state="down" size={28} />
      <h2>{problem?.title ?? t("Something went wrong")}</h2>
      <p>{problem?.detail ?? (error instanceof Error ? error.message : "")}</p>
      {problem?.request_id && (
        <p className="muted">
          <Rich text="Request {id}" id={<code>{problem.request_id}</code>} />
        </p>
      )}
      {onRetry && (
        <div className="actions">
          <button type="button" className="btn" onClick={onRetry}>
            <RotateCw size={15} aria-hidden /> {t("Try again")}
          </button>
        </div>
      )}
    </div>
  );
}
