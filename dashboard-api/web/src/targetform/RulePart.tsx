import { Link } from "@tanstack/react-router";
import { ExternalLink } from "lucide-react";
import { RuleFields } from "../rule/RuleFields";
import type { RuleDraft } from "../rule/rule";
import { t } from "../words/t";
import type { Errors } from "./form";
import { ruleErrorsIn } from "./ruling";
import "../styles/rule.css";

/** The rule of a target as fields; of a saved one also the way to where it is tried on the past. */
export default function RulePart({
  id,
  draft,
  errors,
  onChange,
}: {
  /** Null: it is not there yet. */
  id: number | null;
  draft: RuleDraft;
  errors: Errors;
  onChange: (change: Partial<RuleDraft>) => void;
}) {
  const found = ruleErrorsIn(errors);
  return (
    <div className="rule rule-part">
      {found.form && (
        <div className="banner bad" role="alert" tabIndex={-1}>
          <p>{found.form}</p>
        </div>
      )}
      <RuleFields draft={draft} errors={found} onChange={onChange} />
      {id !== null && (
        <p>
          <Link
            to="/targets/$id/rule"
            params={{ id: String(id) }}
            className="link"
            target="_blank"
            rel="noreferrer noopener"
          >
            {t("Try another rule")} <ExternalLink size={13} aria-label={t("(opens a new tab)")} />
          </Link>
        </p>
      )}
    </div>
  );
}
