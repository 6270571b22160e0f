import type { ReactNode } from "react";
import { Choice } from "../targetform/HeartbeatFields";
import { Field } from "../ui/Field";
import { locale, t } from "../words/t";
import type { RuleDraft, RuleErrors } from "./rule";

interface Props {
  draft: RuleDraft;
  errors: RuleErrors;
  onChange: (change: Partial<RuleDraft>) => void;
}

const decimal = new Intl.NumberFormat(locale());

/** A rule in plain words. An empty field is the default, which stands in it. */
export function RuleFields({ draft, errors, onChange }: Props) {
  const number = (field: keyof RuleDraft, label: string, placeholder: string, hint: ReactNode) => (
    <Field label={label} error={errors[field]} hint={hint}>
      {(bound) => (
        <input
          {...bound}
          className="input"
          name={field}
          inputMode="decimal"
          autoComplete="off"
          placeholder={placeholder}
          value={String(draft[field])}
          onChange={(event) => onChange({ [field]: event.target.value })}
        />
      )}
    </Field>
  );
  const box = (field: "firm" | "ignoreMinority" | "damped", label: string) => (
    <label className="rule-box">
      <input type="checkbox" checked={draft[field]} onChange={(event) => onChange({ [field]: event.target.checked })} />
      {label}
    </label>
  );
  return (
    <>
      <fieldset>
        <legend>{t("When it is down")}</legend>
        <div className="rule-grid">
          <Choice
            label={t("Regions that must fail")}
            value={draft.quorum}
            options={[
              ["majority", t("Most")],
              ["count", t("A number")],
              ["all", t("All")],
            ]}
            onChange={(quorum) => onChange({ quorum })}
          />
          {draft.quorum === "count" && number("count", t("How many regions"), "", t("1 to 100."))}
          {number(
            "atLeast",
            t("Never fewer regions than"),
            draft.quorum === "count" && draft.count.trim() === "1" ? "1" : "2",
            t("While more than that can judge."),
          )}
          {number(
            "downAfter",
            t("Failing results in a row"),
            "1",
            t("Of a region, before it counts as failing. 1 to 10."),
          )}
          {number("upAfter", t("Good results in a row"), "1", t("Before it counts as recovered. 1 to 10."))}
          {number("forS", t("Down for, in seconds"), "0", t("Before somebody is told. Up to a day."))}
        </div>
        {box("firm", t("Tell nobody while fewer regions than that can judge"))}
      </fieldset>
      <fieldset>
        <legend>{t("When it is degraded")}</legend>
        <div className="rule-grid">
          {number("latency", t("Slower than, in ms"), t("never"), t("A good result that takes longer. Up to 60000."))}
          {number("certificate", t("Certificate ends within days"), t("never"), t("1 to 365."))}
          <Choice
            label={t("Tell people when it is")}
            value={draft.openOn}
            options={[
              ["down", t("Down")],
              ["degraded", t("Degraded too")],
            ]}
            onChange={(openOn) => onChange({ openOn })}
          />
        </div>
        {box("ignoreMinority", t("Still up while too few regions fail for down"))}
      </fieldset>
      <fieldset>
        <legend>{t("When it goes up and down")}</legend>
        {box("damped", t("Tell it once, instead of each time"))}
        {draft.damped && (
          <div className="rule-grid">
            {number("begin", t("Begin at a score of"), decimal.format(1.5), t("Each outage adds 1. Between 1 and 2."))}
            {number("end", t("End at a score of"), decimal.format(0.5), t("Between 0 and 1."))}
            {number("halfLife", t("The score halves in seconds"), t("12 intervals"), t("60 to 2592000."))}
          </div>
        )}
      </fieldset>
    </>
  );
}
