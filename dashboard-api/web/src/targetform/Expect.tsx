import { Plus } from "lucide-react";
import { t } from "../words/t";
import "../styles/request.css";

/** Leads to where it is said what an answer must be. */
export function Expect({ onClick }: { onClick: () => void }) {
  return (
    <div className="field">
      <button type="button" className="btn request-add" onClick={onClick}>
        <Plus size={15} aria-hidden /> {t("Expect an answer")}
      </button>
      <p className="hint">{t("What comes back is judged by assertions.")}</p>
    </div>
  );
}
