import { lazy } from "react";
import { type RuleDraft, ruleDraftOf } from "../rule/rule";
import { t } from "../words/t";
import { Fold } from "./Fold";
import type { Errors } from "./form";
import { same } from "./part";

const RulePart = lazy(() => import("./RulePart"));

/** When the target is down, and when people hear of it: folded while it is as it is by default. */
export function RuleFold(props: {
  id: number | null;
  draft: RuleDraft;
  errors: Errors;
  onChange: (change: Partial<RuleDraft>) => void;
}) {
  return (
    <Fold
      title={t("Rule: quorum, confirmation, when people are told")}
      begins={!same(props.draft, ruleDraftOf({}))}
      wrong={Object.keys(props.errors).some((at) => at === "/policy" || at.startsWith("/policy/"))}
    >
      <RulePart {...props} />
    </Fold>
  );
}
