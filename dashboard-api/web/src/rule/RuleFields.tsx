import type { ReactNode } from "react";
import { Choice } from "../targetform/HeartbeatFields";
import { Field } from "../ui/Field";
import type { RuleDraft, RuleErrors } from "./rule";

interface Props {
  draft: RuleDraft;
  errors: RuleErrors;
  onChange: (change: Partial<RuleDraft>) => void;
}

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
        <legend>When it is down</legend>
        <div className="rule-grid">
          <Choice
            label="Regions that must fail"
            value={draft.quorum}
            options={[
              ["majority", "Most"],
              ["count", "A number"],
              ["all", "All"],
            ]}
            onChange={(quorum) => onChange({ quorum })}
          />
          {draft.quorum === "count" && number("count", "How many regions", "", "1 to 100.")}
          {number(
            "atLeast",
            "Never fewer regions than",
            draft.quorum === "count" && draft.count.trim() === "1" ? "1" : "2",
            "While more than that can judge.",
          )}
          {number("downAfter", "Failing results in a row", "1", "Of a region, before it counts as failing. 1 to 10.")}
          {number("upAfter", "Good results in a row", "1", "Before it counts as recovered. 1 to 10.")}
          {number("forS", "Down for, in seconds", "0", "Before somebody is told. Up to a day.")}
        </div>
        {box("firm", "Tell nobody while fewer regions than that can judge")}
      </fieldset>
      <fieldset>
        <legend>When it is degraded</legend>
        <div className="rule-grid">
          {number("latency", "Slower than, in ms", "never", "A good result that takes longer. Up to 60000.")}
          {number("certificate", "Certificate ends within days", "never", "1 to 365.")}
          <Choice
            label="Tell people when it is"
            value={draft.openOn}
            options={[
              ["down", "Down"],
              ["degraded", "Degraded too"],
            ]}
            onChange={(openOn) => onChange({ openOn })}
          />
        </div>
        {box("ignoreMinority", "Still up while too few regions fail for down")}
      </fieldset>
      <fieldset>
        <legend>When it goes up and down</legend>
        {box("damped", "Tell it once, instead of each time")}
        {draft.damped && (
          <div className="rule-grid">
            {number("begin", "Begin at a score of", "1.5", "Each outage adds 1. Between 1 and 2.")}
            {number("end", "End at a score of", "0.5", "Between 0 and 1.")}
            {number("halfLife", "The score halves in seconds", "12 intervals", "60 to 2592000.")}
          </div>
        )}
      </fieldset>
    </>
  );
}
