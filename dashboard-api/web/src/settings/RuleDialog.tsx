import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { type AlertRule, type AlertTerms, alertApi, type Channel } from "../api/alerts";
import { useToast } from "../app/toasts";
import { ownZone } from "../targetform/zones";
import { Dialog } from "../ui/Dialog";
import { FormProblem } from "../ui/FormProblem";
import { problemsOf } from "../ui/problems";
import { useProblems } from "../ui/useProblems";
import { RuleFields } from "./RuleFields";
import { draftOf, emptyRule, pointers, termsOf } from "./rules";
import "../styles/dialog.css";

/** Adds a notification rule, or changes one. */
export default function RuleDialog({
  rule,
  channels,
  onClose,
}: {
  rule: AlertRule | null;
  channels: readonly Channel[];
  onClose: () => void;
}) {
  const queries = useQueryClient();
  const toast = useToast();
  const { form, problems, refuse } = useProblems();
  const [draft, setDraft] = useState(() => (rule ? draftOf(rule) : emptyRule(ownZone())));
  const save = useMutation({
    mutationFn: (terms: Omit<AlertTerms, "enabled">) =>
      rule ? alertApi.updateRule(rule.id, terms, rule.version) : alertApi.createRule({ ...terms, enabled: true }),
    onSuccess: (saved) => {
      void queries.invalidateQueries({ queryKey: ["rules"] });
      toast({ text: rule ? `${saved.name} saved.` : `${saved.name} added. It is on.` });
      onClose();
    },
    onError: (error) => refuse(problemsOf(error, pointers, "Somebody else changed this rule.")),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const { terms, problems: found } = termsOf(draft);
    if (Object.keys(found).length > 0) return refuse(found);
    refuse({});
    if (!save.isPending) save.mutate(terms);
  };
  return (
    <Dialog title={rule ? "Edit notification rule" : "Add notification rule"} onClose={onClose}>
      <form ref={form} onSubmit={submit} noValidate>
        <div className="dialog-body">
          <FormProblem problems={problems} />
          <RuleFields
            draft={draft}
            problems={problems}
            channels={channels}
            onChange={(change) => setDraft((old) => ({ ...old, ...change }))}
          />
        </div>
        <div className="dialog-foot">
          <button type="button" className="btn" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" className="btn primary" disabled={save.isPending}>
            {save.isPending ? "Saving" : rule ? "Save changes" : "Add rule"}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
