import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { type AlertRule, type AlertTerms, alertApi, type Channel } from "../api/alerts";
import { useToast } from "../app/toasts";
import { ownZone } from "../targetform/zones";
import { DialogForm } from "../ui/DialogForm";
import { problemsOf } from "../ui/problems";
import { useChanged } from "../ui/useChanged";
import { useProblems } from "../ui/useProblems";
import { t } from "../words/t";
import { RuleFields } from "./RuleFields";
import { draftOf, emptyRule, pointers, termsOf } from "./rules";

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
  const entered = useChanged(draft);
  const save = useMutation({
    mutationFn: (terms: Omit<AlertTerms, "enabled">) =>
      rule ? alertApi.updateRule(rule.id, terms, rule.version) : alertApi.createRule({ ...terms, enabled: true }),
    onSuccess: (saved) => {
      void queries.invalidateQueries({ queryKey: ["rules"] });
      toast({
        text: rule ? t("{name} saved.", { name: saved.name }) : t("{name} added. It is on.", { name: saved.name }),
      });
      onClose();
    },
    onError: (error) => refuse(problemsOf(error, pointers, t("Somebody else changed this rule."))),
  });
  const submit = () => {
    const { terms, problems: found } = termsOf(draft);
    if (Object.keys(found).length > 0) return refuse(found);
    refuse({});
    save.mutate(terms);
  };
  return (
    <DialogForm
      title={rule ? t("Edit notification rule") : t("Add notification rule")}
      form={form}
      problems={problems}
      busy={save.isPending}
      act={rule ? t("Save changes") : t("Add rule")}
      acting={t("Saving")}
      entered={entered}
      onSubmit={submit}
      onClose={onClose}
    >
      <RuleFields
        draft={draft}
        problems={problems}
        channels={channels}
        onChange={(change) => setDraft((old) => ({ ...old, ...change }))}
      />
    </DialogForm>
  );
}
