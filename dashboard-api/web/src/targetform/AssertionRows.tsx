import { useQuery } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import { useEffect, useRef } from "react";
import { api } from "../api/endpoints";
import { ErrorNote } from "../ui/ErrorNote";
import { t } from "../words/t";
import { AssertionRow } from "./AssertionRow";
import type { AssertionProps } from "./AssertionSection";
import { begun, kindOf, MOST, rulesFor, withRow } from "./assertions";
import { type FormTest, isRunning } from "./useFormTest";
import { type Judged, judgedOf } from "./visit";
import "../styles/assertions.css";

/** The assertions one below the other, each with what the last test says of it, where there is a way to test. */
export default function AssertionRows(props: Omit<AssertionProps, "test"> & { test?: FormTest | null }) {
  const { url, rows, added, problem, problems, test, onChange } = props;
  const list = useRef<HTMLDivElement>(null);
  const add = useRef<HTMLButtonElement>(null);
  const { data, error, refetch } = useQuery({
    queryKey: ["assertion-rules"],
    queryFn: api.assertionRules,
    staleTime: Number.POSITIVE_INFINITY,
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: a row that was just added takes the focus
  useEffect(() => {
    if (!list.current) return; // what may be asserted is not known yet
    if (added.current) list.current.querySelector<HTMLElement>("fieldset:last-of-type select")?.focus();
    added.current = false;
  }, [rows.length, data]);
  if (error && !data) return <ErrorNote error={error} onRetry={() => void refetch()} />;
  if (!data) return <span className="skeleton" style={{ height: 36 }} />;

  const rules = data.items;
  const offered = rulesFor(rules, kindOf(url));
  const first = offered.find((rule) => rule.source === "body") ?? offered[0];
  const whole = problem && Object.keys(problems).length === 0 ? problem : "";
  return (
    <div ref={list} className="assertions">
      <p className="hint">
        {t(
          test === undefined
            ? "What an answer must be, such as a text in its body, a header or a time."
            : "What an answer must be, such as a text in its body, a header or a time. The last test is shown at each.",
        )}
      </p>
      {rows.map((row, i) => {
        const at = test?.rows.findIndex((one) => one.key === row.key) ?? -1;
        const tested = at >= 0 && JSON.stringify(test?.rows[at]?.of) === JSON.stringify(row.of);
        return (
          <AssertionRow
            key={row.key}
            n={i + 1}
            of={row.of}
            rules={rules}
            offered={offered}
            problems={problems[row.key] ?? {}}
            judged={test && tested ? judged(test, at) : null}
            onChange={(of) => onChange(rows.map((one) => (one.key === row.key ? { ...one, of } : one)))}
            onRemove={() => {
              onChange(rows.filter((one) => one.key !== row.key));
              add.current?.focus();
            }}
          />
        );
      })}
      {whole && (
        <p className="problem" role="alert" tabIndex={-1}>
          {whole}
        </p>
      )}
      <button
        ref={add}
        type="button"
        className="btn add-assertion"
        aria-disabled={rows.length >= MOST || !first}
        onClick={() => {
          if (rows.length >= MOST || !first) return;
          added.current = true;
          onChange(withRow(rows, begun(first)));
        }}
      >
        <Plus size={16} aria-hidden /> {t("Add assertion")}
      </button>
    </div>
  );
}

/** While nothing was seen its place is held: nothing moves when it is. */
function judged(test: FormTest, index: number): Judged | null {
  const seen = test.check ? judgedOf(test.check, index) : null;
  return seen ?? (isRunning(test) ? { of: "waiting" } : null);
}
