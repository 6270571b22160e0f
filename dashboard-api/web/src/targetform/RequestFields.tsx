import { Plus, X } from "lucide-react";
import { useRef } from "react";
import { Field } from "../ui/Field";
import { t } from "../words/t";
import type { Errors } from "./form";
import { Choice } from "./HeartbeatFields";
import { type HeaderRow, isBlank, newRow, type RequestDraft, requestOf, type Sign } from "./request";
import "../styles/request.css";

const MOST_HEADERS = 40;
const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
const keeps = () => t("Stored. Empty: it stays.");

/** How an HTTP target is asked. Secrets are written here, and never shown. */
export default function RequestFields({
  draft,
  errors,
  onChange,
}: {
  draft: RequestDraft;
  errors: Errors;
  onChange: (change: Partial<RequestDraft>) => void;
}) {
  return (
    <>
      {errors["/http"] && (
        <div className="banner bad" role="alert" tabIndex={-1}>
          <p>{errors["/http"]}</p>
          <button type="button" className="btn" onClick={() => onChange({ ...requestOf(null), family: draft.family })}>
            {t("Back to the default")}
          </button>
        </div>
      )}
      <Field label={t("Method")} error={errors["/http/method"]}>
        {(bound) => (
          <select
            {...bound}
            className="input"
            value={draft.method || "GET"}
            onChange={(event) => onChange({ method: event.target.value === "GET" ? "" : event.target.value })}
          >
            {[...new Set([...methods, draft.method || "GET"])].map((method) => (
              <option key={method}>{method}</option>
            ))}
          </select>
        )}
      </Field>
      <Headers rows={draft.headers} errors={errors} onChange={(headers) => onChange({ headers })} />
      <Field
        label={t("Body")}
        error={errors["/http/body"] ?? errors["/http/body_secret"]}
        hint={draft.bodySecret ? t("Once saved it is not shown again.") : undefined}
      >
        {(bound) => (
          <textarea
            {...bound}
            className="input mono"
            rows={3}
            spellCheck={false}
            placeholder={draft.bodySecret && draft.bodyStored ? keeps() : undefined}
            value={draft.body}
            onChange={(event) => onChange({ body: event.target.value })}
          />
        )}
      </Field>
      <div className="chips">
        <Tick
          label={t("The body is secret")}
          on={draft.bodySecret}
          onChange={(bodySecret) => onChange({ bodySecret })}
        />
      </div>
      <Choice<Sign>
        label={t("Sign-in")}
        value={draft.sign}
        options={[
          ["none", t("None")],
          ["basic", t("User name and password")],
          ["bearer", t("Bearer token")],
        ]}
        onChange={(sign) => onChange({ sign })}
      />
      {draft.sign === "basic" && (
        <>
          <Field label={t("User name")} error={errors["/http/username"]}>
            {(bound) => (
              <input
                {...bound}
                className="input"
                autoComplete="off"
                value={draft.username}
                onChange={(event) => onChange({ username: event.target.value })}
              />
            )}
          </Field>
          <Secret
            label={t("Password")}
            error={errors["/http/password"]}
            value={draft.password}
            stored={draft.passwordStored}
            onChange={(password) => onChange({ password })}
          />
        </>
      )}
      {draft.sign === "bearer" && (
        <Secret
          label={t("Bearer token")}
          error={errors["/http/token"]}
          value={draft.token}
          stored={draft.tokenStored}
          onChange={(token) => onChange({ token })}
        />
      )}
      <Select
        label={t("Redirects")}
        error={errors["/http/redirects"]}
        value={draft.redirects}
        options={[
          ["", t("Up to {n, number} (the default)", { n: 5 })],
          ["0", t("None is followed")],
          ...[1, 2, 3, 4, 5].map((n): [string, string] => [String(n), t("Up to {n, number}", { n })]),
        ]}
        onChange={(redirects) => onChange({ redirects })}
      />
      <Select
        label={t("HTTP version")}
        error={errors["/http/version"]}
        value={draft.version}
        options={[
          ["", "HTTP/1.1"],
          ["best", t("HTTP/2 where it is offered")],
          ["2", "HTTP/2"],
          ["3", "HTTP/3"],
        ]}
        onChange={(version) => onChange({ version })}
      />
      <Select
        label={t("Addresses")}
        error={errors["/family"]}
        value={draft.family}
        options={[
          ["", "IPv4, IPv6"],
          ["4", "IPv4"],
          ["6", "IPv6"],
        ]}
        onChange={(family) => onChange({ family })}
      />
      <div className="chips">
        <Tick
          label={t("Send cookies set on the way")}
          on={draft.cookies}
          onChange={(cookies) => onChange({ cookies })}
        />
        <Tick
          label={t("Ask for compression")}
          on={draft.compressed}
          onChange={(compressed) => onChange({ compressed })}
        />
      </div>
    </>
  );
}

function Headers({
  rows,
  errors,
  onChange,
}: {
  rows: HeaderRow[];
  errors: Errors;
  onChange: (rows: HeaderRow[]) => void;
}) {
  const group = useRef<HTMLFieldSetElement>(null);
  const set = (row: HeaderRow, change: Partial<HeaderRow>) =>
    onChange(rows.map((one) => (one.key === row.key ? { ...one, ...change } : one)));
  // The server counts those that were sent.
  const sent = rows.filter((row) => !isBlank(row));
  return (
    <fieldset className="field request-headers" ref={group}>
      <legend className="label">{t("Headers")}</legend>
      {rows.map((row, i) => {
        const at = sent.indexOf(row);
        const name = at < 0 ? undefined : errors[`/http/headers/${at}/name`];
        const value =
          at < 0 ? undefined : (errors[`/http/headers/${at}/value`] ?? errors[`/http/headers/${at}/secret`]);
        return (
          <div key={row.key} className="request-header">
            <Field label={t("Header {n, number}, name", { n: i + 1 })} error={name}>
              {(bound) => (
                <input
                  {...bound}
                  className="input mono"
                  autoComplete="off"
                  spellCheck={false}
                  value={row.name}
                  onChange={(event) => set(row, { name: event.target.value })}
                />
              )}
            </Field>
            <Field label={t("Header {n, number}, value", { n: i + 1 })} error={value}>
              {(bound) => (
                <input
                  {...bound}
                  className="input mono"
                  type={row.secret ? "password" : "text"}
                  autoComplete={row.secret ? "new-password" : "off"}
                  spellCheck={false}
                  placeholder={row.secret && row.stored ? keeps() : undefined}
                  value={row.value}
                  onChange={(event) => set(row, { value: event.target.value })}
                />
              )}
            </Field>
            <div className="chips">
              <Tick
                label={t("Header {n, number} is secret", { n: i + 1 })}
                on={row.secret}
                onChange={(secret) => set(row, { secret })}
              />
              <button
                type="button"
                className="icon-btn"
                aria-label={t("Remove header {n, number}", { n: i + 1 })}
                onClick={() => {
                  onChange(rows.filter((one) => one.key !== row.key));
                  group.current?.querySelector<HTMLElement>(".request-add")?.focus();
                }}
              >
                <X size={16} aria-hidden />
              </button>
            </div>
          </div>
        );
      })}
      {errors["/http/headers"] && <p className="problem">{errors["/http/headers"]}</p>}
      <button
        type="button"
        className="btn request-add"
        disabled={rows.length >= MOST_HEADERS}
        onClick={() => {
          onChange([...rows, newRow(rows)]);
          requestAnimationFrame(() =>
            group.current?.querySelector<HTMLElement>(".request-header:last-of-type input")?.focus(),
          );
        }}
      >
        <Plus size={15} aria-hidden /> {t("Add header")}
      </button>
    </fieldset>
  );
}

function Secret(props: {
  label: string;
  error: string | undefined;
  value: string;
  stored: boolean;
  onChange: (value: string) => void;
}) {
  return (
    <Field label={props.label} error={props.error} hint={t("Once saved it is not shown again.")}>
      {(bound) => (
        <input
          {...bound}
          className="input"
          type="password"
          autoComplete="new-password"
          placeholder={props.stored ? keeps() : undefined}
          value={props.value}
          onChange={(event) => props.onChange(event.target.value)}
        />
      )}
    </Field>
  );
}

function Select<T extends string>(props: {
  label: string;
  error: string | undefined;
  value: T;
  options: readonly (readonly [T, string])[];
  onChange: (value: T) => void;
}) {
  return (
    <Field label={props.label} error={props.error}>
      {(bound) => (
        <select
          {...bound}
          className="input"
          value={props.value}
          onChange={(event) => props.onChange(event.target.value as T)}
        >
          {props.options.map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

function Tick({ label, on, onChange }: { label: string; on: boolean; onChange: (on: boolean) => void }) {
  return (
    <label className="chip">
      <input type="checkbox" checked={on} onChange={(event) => onChange(event.target.checked)} />
      {label}
    </label>
  );
}
