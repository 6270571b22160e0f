import { CircleCheck, CircleX } from "lucide-react";
import { Choice } from "../targetform/HeartbeatFields";
import { ZoneField } from "../targetform/ZoneField";
import { CheckLine } from "../ui/CheckLine";
import { CopyText } from "../ui/CopyText";
import { Field } from "../ui/Field";
import type { Problems } from "../ui/problems";
import { Rich } from "../words/Rich";
import { t } from "../words/t";
import {
  accents,
  colourProblem,
  contrast,
  isColour,
  MIN_CONTRAST,
  ratioWord,
  type Surface,
  surfaces,
} from "./contrast";
import type { PageDraft } from "./draft";
import { languages } from "./locales";
import { pathOf } from "./pages";

const EXAMPLE = "status.example.com";
const LISTENS = "127.0.0.1:8080"; // unless it is told otherwise

interface Props {
  draft: PageDraft;
  problems: Problems;
  onChange: (change: Partial<PageDraft>) => void;
}

/** Its name, and where it is. */
export function Basics({ draft, problems, onChange }: Props) {
  const host = draft.host.trim();
  return (
    <section className="card" aria-labelledby="basics">
      <div className="card-head">
        <h2 id="basics">{t("Name and address")}</h2>
      </div>
      <div className="pad stack">
        <Field label={t("Name")} error={problems["/title"]}>
          {(bound) => (
            <input
              {...bound}
              className="input"
              value={draft.title}
              onChange={(event) => onChange({ title: event.target.value })}
            />
          )}
        </Field>
        <Field label={t("A sentence about it (optional)")} error={problems["/description"]}>
          {(bound) => (
            <input
              {...bound}
              className="input"
              value={draft.description}
              onChange={(event) => onChange({ description: event.target.value })}
            />
          )}
        </Field>
        <Field
          label={t("Address")}
          error={problems["/slug"]}
          hint={t("{address}. Links that people have stop working when you change it.", {
            address: `${location.origin}${pathOf({ slug: draft.slug.trim() || "…" })}`,
          })}
        >
          {(bound) => (
            <input
              {...bound}
              className="input mono"
              spellCheck={false}
              value={draft.slug}
              onChange={(event) => onChange({ slug: event.target.value })}
            />
          )}
        </Field>
        <Field
          label={t("A host name of its own (optional)")}
          error={problems["/host"]}
          hint={
            host
              ? undefined
              : t("Such as {example}: the page is then there as well, and nothing else is.", { example: EXAMPLE })
          }
        >
          {(bound) => (
            <input
              {...bound}
              className="input mono"
              spellCheck={false}
              placeholder={EXAMPLE}
              value={draft.host}
              onChange={(event) => onChange({ host: event.target.value })}
            />
          )}
        </Field>
        {host && <HostSteps host={host} />}
      </div>
    </section>
  );
}

function HostSteps({ host }: { host: string }) {
  return (
    <div className="host-steps">
      <h3>{t("Two steps outside of Probefleet")}</h3>
      <ol>
        <li>
          <p>{t("In the DNS, point the name at this installation:")}</p>
          <CopyText label={t("the DNS record")} text={`${host}. CNAME ${location.hostname}.`} />
        </li>
        <li>
          <p>
            <Rich
              text="In the proxy before Probefleet, take requests for the name with a certificate of its own and hand them on with their <code>Host</code> as it is. Caddy does all that with:"
              code={(inner) => <code>{inner}</code>}
            />
          </p>
          <CopyText label={t("the lines for Caddy")} text={`${host} {\n\treverse_proxy ${LISTENS}\n}`} />
          <p className="muted">
            {t("{address} is where Probefleet listens if nothing else was set.", { address: LISTENS })}
          </p>
        </li>
      </ol>
    </div>
  );
}

/** How it speaks and looks. */
export function Look({ draft, problems, onChange }: Props) {
  return (
    <section className="card" aria-labelledby="look">
      <div className="card-head">
        <h2 id="look">{t("Language and colours")}</h2>
      </div>
      <div className="pad stack">
        <Field
          label={t("Language")}
          error={problems["/language"]}
          hint={t("Of its own words. Readers whose browser asks for another of these see that.")}
        >
          {(bound) => (
            <select
              {...bound}
              className="input"
              value={draft.language}
              onChange={(event) => onChange({ language: event.target.value })}
            >
              {languages.map(([code, name]) => (
                <option key={code} value={code}>
                  {name}
                </option>
              ))}
            </select>
          )}
        </Field>
        <ZoneField value={draft.zone} error={problems["/zone"]} onChange={(zone) => onChange({ zone })} />
        <Choice
          label={t("Theme")}
          value={draft.theme}
          options={[
            ["auto", t("Reader's own")],
            ["light", t("Light")],
            ["dark", t("Dark")],
          ]}
          onChange={(theme) => onChange({ theme })}
        />
        <div className="two">
          <ColourField
            label={t("Links, light theme")}
            variant="light"
            value={draft.accent}
            error={problems["/accent"]}
            onChange={(accent) => onChange({ accent })}
          />
          <ColourField
            label={t("Links, dark theme")}
            variant="dark"
            value={draft.accentDark}
            error={problems["/accent_dark"]}
            onChange={(accentDark) => onChange({ accentDark })}
          />
        </div>
      </div>
    </section>
  );
}

/** A colour, with how well it can be read; one that cannot is refused before it is sent. */
function ColourField({
  label,
  variant,
  value,
  error,
  onChange,
}: {
  label: string;
  variant: Surface;
  value: string;
  error: string | undefined;
  onChange: (value: string) => void;
}) {
  const text = value.trim();
  const usual = accents[variant];
  const colour = text || usual;
  const ratio = contrast(colour, surfaces[variant]);
  const problem = colourProblem(text, variant);
  return (
    <Field
      label={label}
      error={error ?? (problem || undefined)}
      hint={
        ratio !== null && (
          <span className="ratio">
            {problem ? (
              <CircleX size={14} aria-hidden className="s-down" />
            ) : (
              <CircleCheck size={14} aria-hidden className="s-up" />
            )}
            {t(
              "{on, select, light {{contrast} on white} other {{contrast} on dark}}; {least, number} is the least{ours, select, yes {. Ours} other {}}",
              { on: variant, contrast: ratioWord(ratio), least: MIN_CONTRAST, ours: text ? "no" : "yes" },
            )}
          </span>
        )
      }
    >
      {(bound) => (
        <div className="colour">
          <input
            type="color"
            aria-label={t("{label}, choose", { label })}
            value={isColour(colour) ? colour : usual}
            onChange={(event) => onChange(event.target.value)}
          />
          <input
            {...bound}
            aria-invalid={error || problem ? true : undefined}
            className="input mono"
            spellCheck={false}
            placeholder={usual}
            value={value}
            onChange={(event) => onChange(event.target.value)}
          />
        </div>
      )}
    </Field>
  );
}

/** Who may see it. */
export function Access({ draft, problems, onChange }: Props) {
  return (
    <section className="card" aria-labelledby="access">
      <div className="card-head">
        <h2 id="access">{t("Who sees what")}</h2>
      </div>
      <div className="pad stack">
        <CheckLine checked={draft.showIncidents} onChange={(showIncidents) => onChange({ showIncidents })}>
          {t("Show incidents as they are found")}
          <span className="muted">
            {t(
              "By the names of components alone, such as “Shop: down”. Without it readers see states, and what you post.",
            )}
          </span>
        </CheckLine>
        <Field
          label={t("Password (optional)")}
          error={problems["/password"]}
          hint={
            draft.hasPassword && !draft.password
              ? t("There is one, and it is not shown. Leave the field empty to keep it.")
              : t("Who wants to see the page must know it: 8 characters at least. Another one asks everybody again.")
          }
        >
          {(bound) => (
            <div className="row">
              <input
                {...bound}
                className="input"
                type="password"
                autoComplete="new-password"
                placeholder={draft.hasPassword ? "••••••••" : ""}
                value={draft.password}
                onChange={(event) => onChange({ password: event.target.value })}
              />
              {draft.hasPassword && (
                <button type="button" className="btn" onClick={() => onChange({ password: "", hasPassword: false })}>
                  <Rich text="Remove<more> the password</more>" more={(inner) => <span className="sr">{inner}</span>} />
                </button>
              )}
            </div>
          )}
        </Field>
        <Field
          label={t("Only from these addresses (optional)")}
          error={problems["/allow"]}
          hint={t("Addresses and ranges such as {example}, a line each. Empty: from everywhere.", {
            example: "192.0.2.0/24",
          })}
        >
          {(bound) => (
            <textarea
              {...bound}
              className="input mono"
              rows={2}
              spellCheck={false}
              value={draft.allow}
              onChange={(event) => onChange({ allow: event.target.value })}
            />
          )}
        </Field>
      </div>
    </section>
  );
}
