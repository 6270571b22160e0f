import { X } from "lucide-react";
import type { PageState, Rule } from "../api/statusPages";
import { useLive } from "../app/live";
import { Choice } from "../targetform/HeartbeatFields";
import { Field } from "../ui/Field";
import type { Problems } from "../ui/problems";
import { StateIcon } from "../ui/StateIcon";
import { TagInput } from "../ui/TagInput";
import { TargetPicker } from "../ui/TargetPicker";
import { stateWords } from "../ui/words";
import { t } from "../words/t";
import type { ComponentDraft } from "./draft";
import { pageStates } from "./fold";

const rules: Record<Rule, string> = {
  worst: t("It is as bad as the worst of its targets."),
  majority: t("It is what more than half of its targets are, and degraded while fewer are in trouble."),
  manual: t("It is what you say here, until you say something else; the page says that somebody states it."),
};

/** What a component is called, and how its state comes about. */
export function ComponentFields({
  component,
  pointer,
  problems,
  onChange,
}: {
  component: ComponentDraft;
  pointer: string;
  problems: Problems;
  onChange: (change: Partial<ComponentDraft>) => void;
}) {
  const { store } = useLive();
  const { targets } = component;
  const setRule = (rule: Rule) => onChange({ rule, state: rule === "manual" ? (component.state ?? "up") : null });
  return (
    <div className="component-fields stack">
      <Field label={t("Name")} error={problems[`${pointer}/name`]} hint={t("As readers call it.")}>
        {(bound) => (
          <input
            {...bound}
            className="input"
            value={component.name}
            onChange={(event) => onChange({ name: event.target.value })}
          />
        )}
      </Field>
      <Field label={t("A sentence about it (optional)")} error={problems[`${pointer}/description`]}>
        {(bound) => (
          <input
            {...bound}
            className="input"
            value={component.description}
            onChange={(event) => onChange({ description: event.target.value })}
          />
        )}
      </Field>
      <Choice<Rule>
        label={t("Its state is")}
        value={component.rule}
        options={[
          ["worst", t("Worst of")],
          ["majority", t("Majority")],
          ["manual", t("By hand")],
        ]}
        onChange={setRule}
      />
      <p className="hint muted">{rules[component.rule]}</p>
      {component.rule === "manual" && (
        <Field label={t("State")} error={problems[`${pointer}/state`]}>
          {(bound) => (
            <select
              {...bound}
              className="input"
              value={component.state ?? "up"}
              onChange={(event) => onChange({ state: event.target.value as PageState })}
            >
              {[...pageStates].reverse().map((state) => (
                <option key={state} value={state}>
                  {stateWords[state]}
                </option>
              ))}
            </select>
          )}
        </Field>
      )}
      <TargetPicker
        label={component.rule === "manual" ? t("Targets (optional)") : t("Targets")}
        value={null}
        error={problems[`${pointer}/target_ids`]}
        hint={
          component.rule === "manual"
            ? t("They do not count for its state; their maintenance is announced here, and their days are shown.")
            : targets.length + component.tags.length === 0
              ? t("Without a target there is no evidence: the page says “no data”.")
              : ""
        }
        onChange={(id) => id !== null && !targets.includes(id) && onChange({ targets: [...targets, id] })}
      />
      {targets.length > 0 && (
        <div className="chips">
          {targets.map((id) => {
            const target = store.get(id);
            return (
              <button
                key={id}
                type="button"
                className="chip"
                onClick={() => onChange({ targets: targets.filter((one) => one !== id) })}
              >
                {target && <StateIcon state={target.state} size={14} />} {target?.name ?? t("Target {id}", { id })}{" "}
                <X size={14} aria-label={t("Remove")} />
              </button>
            );
          })}
        </div>
      )}
      <TagInput
        label={t("Targets with all of these tags (optional)")}
        chosen={component.tags}
        error={problems[`${pointer}/tags`]}
        hint={t("They belong to it as they are given the tags, and leave it as they lose one.")}
        onChange={(tags) => onChange({ tags })}
      />
    </div>
  );
}
