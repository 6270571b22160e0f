import { Field } from "../ui/Field";
import { t } from "../words/t";
import { keeps, Lines, onceSaved, Secret, Select, Tick } from "./controls";
import type { Errors } from "./form";
import { HeaderRows } from "./HeaderRows";
import { Choice } from "./HeartbeatFields";
import type { RequestDraft, Sign } from "./request";

const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/** How an HTTP target is asked. Secrets are written here, and never shown. */
export function RequestFields({
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
      <HeaderRows
        at="/http/headers"
        rows={draft.headers}
        errors={errors}
        onChange={(headers) => onChange({ headers })}
      />
      <Lines
        label={t("Body")}
        error={errors["/http/body"] ?? errors["/http/body_secret"]}
        hint={draft.bodySecret ? onceSaved() : undefined}
        placeholder={draft.bodySecret && draft.bodyStored ? keeps() : undefined}
        value={draft.body}
        onChange={(body) => onChange({ body })}
      />
      <div className="chips">
        <Tick
          label={t("The body is secret")}
          on={draft.bodySecret}
          onChange={(bodySecret) => onChange({ bodySecret })}
        />
        <Tick
          label={t("A part of the query is secret")}
          on={draft.querySecret}
          onChange={(querySecret) => onChange({ querySecret })}
        />
      </div>
      {draft.querySecret && (
        <Secret
          label={t("Secret part of the query")}
          hint={t("It is added to the URL, such as token=abc, and is not shown again once saved.")}
          error={errors["/http/query_secret"]}
          value={draft.query}
          stored={draft.queryStored}
          onChange={(query) => onChange({ query })}
        />
      )}
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
