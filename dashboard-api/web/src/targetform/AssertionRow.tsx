import { Check, CircleHelp, Trash2, X } from "lucide-react";
import { useId } from "react";
import type { Assertion, AssertionRule } from "../api/spec";
import { phases } from "../target/phases";
import { Field } from "../ui/Field";
import { stateWords } from "../ui/words";
import { t } from "../words/t";
import { ofOp, ofSource, valueType } from "./assertions";
import { examples, nameLabels, opWords, sourceWords, valueLabel } from "./assertionWords";
import type { Judged } from "./visit";

/** One assertion: what is looked at, how it is compared, and what it is when that does not hold. */
export function AssertionRow({
  n,
  of,
  rules,
  offered,
  problems,
  judged,
  onChange,
  onRemove,
}: {
  n: number;
  of: Assertion;
  rules: readonly AssertionRule[];
  offered: readonly AssertionRule[];
  problems: Record<string, string>;
  judged: Judged | null;
  onChange: (of: Assertion) => void;
  onRemove: () => void;
}) {
  const legend = useId();
  const rule = rules.find((one) => one.source === of.source);
  const sources = withOwn(
    offered.map((one) => one.source),
    of.source,
  );
  const ops = withOwn(rule?.ops.map((one) => one.op) ?? [], of.op);
  const value = valueType(rules, of);
  return (
    <fieldset className="assertion" aria-labelledby={legend} data-judged={judged?.of}>
      <div className="assertion-head">
        <span className="label" id={legend}>
          {t("Assertion {n}", { n })}
        </span>
        <button type="button" className="icon-btn" aria-label={t("Remove assertion {n}", { n })} onClick={onRemove}>
          <Trash2 size={16} aria-hidden />
        </button>
      </div>
      <div className="assertion-fields">
        <Select
          label={t("What is looked at")}
          error={problems.source}
          value={of.source}
          options={sources.map((one) => [one, sourceWords[one] ?? one])}
          onChange={(source) => onChange(ofSource(of, source, rules))}
        />
        {(rule?.name || of.name !== undefined) &&
          (of.source === "phase" ? (
            <Select
              label={t("Phase")}
              error={problems.name}
              value={of.name ?? ""}
              options={withOwn(
                phases.map(({ key }) => key),
                of.name ?? "",
              ).map((key) => [key, phases.find((one) => one.key === key)?.label ?? key])}
              onChange={(name) => onChange({ ...of, name })}
            />
          ) : (
            <Text
              label={nameLabels[of.source] ?? t("Name")}
              error={problems.name}
              value={of.name ?? ""}
              placeholder={examples[of.source]}
              onChange={(name) => onChange({ ...of, name })}
            />
          ))}
        <Select
          label={t("Comparison")}
          error={problems.op}
          value={of.op}
          options={ops.map((one) => [one, opWords[one] ?? one])}
          onChange={(op) => onChange(ofOp(of, op, rules))}
        />
        {(value !== "none" || of.value !== undefined) && (
          <Text
            label={valueLabel(of.source, value)}
            error={problems.value}
            value={of.value ?? ""}
            placeholder={examples[value]}
            onChange={(text) => onChange({ ...of, value: text })}
          />
        )}
        <Select
          label={t("If it does not hold")}
          error={problems.severity}
          value={of.severity || "fail"}
          options={[
            ["fail", stateWords.down],
            ["degrade", stateWords.degraded],
          ]}
          onChange={(severity) => onChange({ ...of, severity: severity === "degrade" ? "degrade" : "fail" })}
        />
      </div>
      {problems[""] && (
        <p className="problem" role="alert" tabIndex={-1}>
          {problems[""]}
        </p>
      )}
      <Outcome judged={judged} />
    </fieldset>
  );
}

/** What the last test says, as a mark and in words. */
function Outcome({ judged }: { judged: Judged | null }) {
  if (judged === null) return null;
  if (judged.of === "failed")
    return (
      <ul className="judged failed">
        {judged.seen.map(({ region, message }) => (
          <li key={region}>
            <X size={16} aria-hidden />
            <span>{t("Failed from {region}: {what}", { region, what: message })}</span>
          </li>
        ))}
      </ul>
    );
  if (judged.of === "waiting") return <p className="judged waiting">{t("Testing")}</p>;
  return (
    <p className={`judged ${judged.of}`}>
      {judged.of === "passed" ? <Check size={16} aria-hidden /> : <CircleHelp size={16} aria-hidden />}
      <span>{judged.of === "passed" ? t("Holds") : t("Not looked at: the visit failed before")}</span>
    </p>
  );
}

/** With what is chosen, also where it is none of those that are offered. */
const withOwn = (offered: readonly string[], own: string): string[] =>
  offered.includes(own) ? [...offered] : [own, ...offered];

function Select({
  label,
  error,
  value,
  options,
  onChange,
}: {
  label: string;
  error: string | undefined;
  value: string;
  options: readonly (readonly [string, string])[];
  onChange: (value: string) => void;
}) {
  return (
    <Field label={label} error={error}>
      {(bound) => (
        <select {...bound} className="input" value={value} onChange={(event) => onChange(event.target.value)}>
          {options.map(([option, text]) => (
            <option key={option} value={option}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

function Text({
  label,
  error,
  value,
  placeholder,
  onChange,
}: {
  label: string;
  error: string | undefined;
  value: string;
  placeholder: string | undefined;
  onChange: (value: string) => void;
}) {
  return (
    <Field label={label} error={error}>
      {(bound) => (
        <input
          {...bound}
          className="input"
          autoComplete="off"
          autoCapitalize="off"
          spellCheck={false}
          placeholder={placeholder}
          value={value}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
  );
}
