import { ChevronRight } from "lucide-react";
import { useId, useState } from "react";
import { Field } from "../ui/Field";
import { duration } from "../ui/words";
import { locale, t } from "../words/t";
import { type Draft, type Errors, hasStatus } from "./form";
import { Shortcuts } from "./Shortcuts";

const intervals = [10, 30, 60, 300, 900, 3600].map((s): [string, number] => [duration(s), s]);
const URL_EXAMPLE = "https://example.com/health";
const schemes = new Intl.ListFormat(locale()).format(["tcp://", "tls://", "dns:///", "icmp://", "grpc://", "ws://"]);

/** One column; only the address is needed, the rest has good defaults and stays folded. */
export function TargetFields({
  draft,
  errors,
  regions,
  isNew,
  onChange,
}: {
  draft: Draft;
  errors: Errors;
  regions: readonly string[];
  isNew: boolean;
  onChange: (change: Partial<Draft>) => void;
}) {
  const [open, setOpen] = useState(!isNew);
  const folded = useId();
  const shown = open || Boolean(errors.name || errors.timeout || errors.regions || errors.status);
  const known = [...new Set([...regions, ...draft.regions])].sort();
  return (
    <>
      <Field label={t("URL")} error={errors.url} hint={t("Also {schemes} addresses.", { schemes })}>
        {(bound) => (
          <input
            {...bound}
            className="input"
            name="url"
            inputMode="url"
            autoComplete="off"
            autoCapitalize="off"
            spellCheck={false}
            // biome-ignore lint/a11y/noAutofocus: the first field of a dialog that was just asked for
            autoFocus
            placeholder={URL_EXAMPLE}
            value={draft.url}
            onChange={(event) => onChange({ url: event.target.value })}
          />
        )}
      </Field>
      <IntervalField value={draft.interval} error={errors.interval} onChange={(interval) => onChange({ interval })} />
      <button
        type="button"
        className="fold"
        aria-expanded={shown}
        aria-controls={folded}
        onClick={() => setOpen(!shown)}
      >
        <ChevronRight size={16} aria-hidden /> {t("Name, timeout, regions, expected status")}
      </button>
      <div id={folded} className="folded" hidden={!shown}>
        <Field label={t("Name")} error={errors.name} hint={t("Empty: the host and path of the URL.")}>
          {(bound) => (
            <input
              {...bound}
              className="input"
              name="name"
              autoComplete="off"
              value={draft.name}
              onChange={(event) => onChange({ name: event.target.value })}
            />
          )}
        </Field>
        <Field
          label={t("Timeout (seconds)")}
          error={errors.timeout}
          hint={isNew ? t("Empty: half the interval, at most {time}.", { time: duration(10) }) : undefined}
        >
          {(bound) => (
            <input
              {...bound}
              className="input"
              name="timeout"
              inputMode="decimal"
              autoComplete="off"
              value={draft.timeout}
              onChange={(event) => onChange({ timeout: event.target.value })}
            />
          )}
        </Field>
        <Regions
          known={known}
          chosen={draft.regions}
          error={errors.regions}
          onChange={(regions) => onChange({ regions })}
        />
        {(hasStatus(draft.url) || draft.status !== "" || errors.status) && (
          <Field
            label={t("Expected status codes")}
            error={errors.status}
            hint={t("Codes and ranges, such as {example}. Empty: {usual}.", {
              example: "200-299, 404",
              usual: "200-399",
            })}
          >
            {(bound) => (
              <input
                {...bound}
                className="input"
                name="status"
                autoComplete="off"
                placeholder="200-399"
                value={draft.status}
                onChange={(event) => onChange({ status: event.target.value })}
              />
            )}
          </Field>
        )}
      </div>
    </>
  );
}

export function IntervalField({
  value,
  error,
  onChange,
}: {
  value: string;
  error: string | undefined;
  onChange: (interval: string) => void;
}) {
  return (
    <Field label={t("Check every (seconds)")} error={error}>
      {(bound) => (
        <div className="interval">
          <input
            {...bound}
            className="input"
            name="interval_s"
            inputMode="numeric"
            autoComplete="off"
            value={value}
            onChange={(event) => onChange(event.target.value)}
          />
          <Shortcuts
            label={t("Common intervals")}
            of={intervals}
            chosen={(seconds) => value === String(seconds)}
            onChoose={(seconds) => onChange(String(seconds))}
          />
        </div>
      )}
    </Field>
  );
}

export function Regions({
  known,
  chosen,
  error,
  onChange,
}: {
  known: readonly string[];
  chosen: readonly string[];
  error: string | undefined;
  onChange: (regions: string[]) => void;
}) {
  const id = useId();
  return (
    // biome-ignore lint/a11y/useSemanticElements: styled like the other fields
    <div className="field" role="group" aria-labelledby={id} aria-describedby={error ? `${id}-error` : `${id}-hint`}>
      <span className="label" id={id}>
        {t("Regions")}
      </span>
      <div className="chips">
        {known.length === 0 && <span className="muted">{t("No region is reporting yet.")}</span>}
        {known.map((region) => (
          <label key={region} className="chip">
            <input
              type="checkbox"
              name="regions"
              aria-invalid={error ? true : undefined}
              checked={chosen.includes(region)}
              onChange={(event) =>
                onChange(event.target.checked ? [...chosen, region].sort() : chosen.filter((r) => r !== region))
              }
            />
            {region}
          </label>
        ))}
      </div>
      {error && (
        <p className="problem" id={`${id}-error`}>
          {error}
        </p>
      )}
      <p className="hint" id={`${id}-hint`}>
        {t("None chosen: every region, also those that join later.")}
      </p>
    </div>
  );
}
