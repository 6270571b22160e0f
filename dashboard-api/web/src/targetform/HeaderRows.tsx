import { Plus, X } from "lucide-react";
import { useRef } from "react";
import { Field } from "../ui/Field";
import { focusAfter } from "../ui/focusAfter";
import { t } from "../words/t";
import { keeps, Tick } from "./controls";
import type { Errors } from "./form";
import { type HeaderList, type HeaderRow, newRow, sentRows } from "./headers";
import "../styles/request.css";

const MOST_HEADERS = 40;

/** The headers one below the other. */
export function HeaderRows({
  at: list,
  rows,
  errors,
  onChange,
}: {
  /** The list as the server points at it. */
  at: HeaderList;
  rows: HeaderRow[];
  errors: Errors;
  onChange: (rows: HeaderRow[]) => void;
}) {
  const group = useRef<HTMLFieldSetElement>(null);
  const set = (row: HeaderRow, change: Partial<HeaderRow>) =>
    onChange(rows.map((one) => (one.key === row.key ? { ...one, ...change } : one)));
  // The server counts those that were sent.
  const sent = sentRows(rows);
  return (
    <fieldset className="field request-headers" ref={group}>
      <legend className="label">{t("Headers")}</legend>
      {rows.map((row, i) => {
        const at = sent.indexOf(row);
        const name = at < 0 ? undefined : (errors[`${list}/${at}/name`] ?? errors[`${list}/${at}`]);
        const value = at < 0 ? undefined : (errors[`${list}/${at}/value`] ?? errors[`${list}/${at}/secret`]);
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
      {errors[list] && <p className="problem">{errors[list]}</p>}
      <button
        type="button"
        className="btn request-add"
        disabled={rows.length >= MOST_HEADERS}
        onClick={() => {
          focusAfter(
            () => onChange([...rows, newRow(rows)]),
            () => group.current?.querySelector<HTMLElement>(".request-header:last-of-type input"),
          );
        }}
      >
        <Plus size={15} aria-hidden /> {t("Add header")}
      </button>
    </fieldset>
  );
}
