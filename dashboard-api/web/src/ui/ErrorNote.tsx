import { RotateCw } from "lucide-react";
import { useEffect } from "react";
import { ApiError } from "../api/client";
import { useAnnounce } from "../app/announcer";
import { Rich } from "../words/Rich";
import { t } from "../words/t";
import { StateIcon } from "./StateIcon";

/**
 * What went wrong, the request's id for whoever looks into it, and a way to try again. Of many cards that fail for one
 * reason it is heard once: it is the sentence itself that is announced.
 */
export function ErrorNote({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  const problem = error instanceof ApiError ? error.problem : null;
  const title = problem?.title ?? t("Something went wrong");
  const detail = problem?.detail ?? (error instanceof Error ? error.message : "");
  const announce = useAnnounce();
  useEffect(() => announce(`${title}. ${detail}`), [announce, title, detail]);
  return (
    <div className="empty" data-problem>
      <StateIcon state="down" size={28} />
      <h2>{title}</h2>
      <p>{detail}</p>
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
