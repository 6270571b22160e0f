import { CircleCheck, CircleX } from "lucide-react";
import { Choice } from "../targetform/HeartbeatFields";
import { ZoneField } from "../targetform/ZoneField";
import { CopyText } from "../ui/CopyText";
import { Field } from "../ui/Field";
import type { Problems } from "../ui/problems";
import { colourProblem, contrast, isColour, ratioWord, type Surface, surfaces } from "./contrast";
import type { PageDraft } from "./draft";
import { languages } from "./locales";
import { pathOf } from "./pages";

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
        <h2 id="basics">Name and address</h2>
      </div>
      <div className="pad stack">
        <Field label="Name" error={problems["/title"]}>
          {(bound) => (
            <input
              {...bound}
              className="input"
              value={draft.title}
              onChange={(event) => onChange({ title: event.target.value })}
            />
          )}
        </Field>
        <Field label="A sentence about it (optional)" error={problems["/description"]}>
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
          label="Address"
          error={problems["/slug"]}
          hint={`${location.origin}${pathOf({ slug: draft.slug.trim() || "…" })}. Links that people have stop working when you change it.`}
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
          label="A host name of its own (optional)"
          error={problems["/host"]}
          hint={host ? undefined : "Such as status.example.com: the page is then there as well, and nothing else is."}
        >
          {(bound) => (
            <input
              {...bound}
              className="input mono"
              spellCheck={false}
              placeholder="status.example.com"
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
      <h3>Two steps outside of Probefleet</h3>
      <ol>
        <li>
          <p>In the DNS, point the name at this installation:</p>
          <CopyText label="the DNS record" text={`${host}. CNAME ${location.hostname}.`} />
        </li>
        <li>
          <p>
            In the proxy before Probefleet, take requests for the name with a certificate of its own and hand them on
            with their <code>Host</code> as it is. Caddy does all that with:
          </p>
          <CopyText label="the lines for Caddy" text={`${host} {\n\treverse_proxy 127.0.0.1:8080\n}`} />
          <p className="muted">127.0.0.1:8080 is where Probefleet listens if nothing else was set.</p>
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
        <h2 id="look">Language and colours</h2>
      </div>
      <div className="pad stack">
        <Field
          label="Language"
          error={problems["/language"]}
          hint="Of its own words. Readers whose browser asks for another of these see that."
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
          label="Theme"
          value={draft.theme}
          options={[
            ["auto", "Reader's own"],
            ["light", "Light"],
            ["dark", "Dark"],
          ]}
          onChange={(theme) => onChange({ theme })}
        />
        <div className="two">
          <ColourField
            label="Links, light theme"
            on="light"
            usual="#0b57d0"
            value={draft.accent}
            error={problems["/accent"]}
            onChange={(accent) => onChange({ accent })}
          />
          <ColourField
            label="Links, dark theme"
            on="dark"
            usual="#8ab4f8"
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
  on,
  usual,
  value,
  error,
  onChange,
}: {
  label: string;
  on: Surface;
  usual: string;
  value: string;
  error: string | undefined;
  onChange: (value: string) => void;
}) {
  const text = value.trim();
  const colour = text || usual;
  const ratio = contrast(colour, surfaces[on]);
  const problem = colourProblem(text, on);
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
            {ratioWord(ratio)} on {on === "light" ? "white" : "dark"}; 4.5 is the least
            {!text && ". Ours"}
          </span>
        )
      }
    >
      {(bound) => (
        <div className="colour">
          <input
            type="color"
            aria-label={`${label}, choose`}
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
        <h2 id="access">Who sees what</h2>
      </div>
      <div className="pad stack">
        <label className="check-line">
          <input
            type="checkbox"
            checked={draft.showIncidents}
            onChange={(event) => onChange({ showIncidents: event.target.checked })}
          />
          <span>
            Show incidents as they are found
            <span className="muted">
              By the names of components alone, such as “Shop: down”. Without it readers see states, and what you post.
            </span>
          </span>
        </label>
        <Field
          label="Password (optional)"
          error={problems["/password"]}
          hint={
            draft.hasPassword && !draft.password
              ? "There is one, and it is not shown. Leave the field empty to keep it."
              : "Who wants to see the page must know it: 8 characters at least. Another one asks everybody again."
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
                  Remove<span className="sr"> the password</span>
                </button>
              )}
            </div>
          )}
        </Field>
        <Field
          label="Only from these addresses (optional)"
          error={problems["/allow"]}
          hint="Addresses and ranges such as 192.0.2.0/24, a line each. Empty: from everywhere."
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
