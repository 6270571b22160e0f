import { lazy, Suspense } from "react";
import { Field } from "../ui/Field";
import { t } from "../words/t";

const Markdown = lazy(() => import("./Markdown").then((part) => ({ default: part.Markdown })));

/** A text in Markdown, and under it how the page shows it. */
export function MarkdownField({
  label,
  value,
  error,
  onChange,
}: {
  label: string;
  value: string;
  error: string | undefined;
  onChange: (text: string) => void;
}) {
  return (
    <>
      <Field
        label={label}
        error={error}
        hint={t("Markdown: **bold**, lists, `code` and [links](https://…). No HTML, no images.")}
      >
        {(bound) => (
          <textarea {...bound} className="input" rows={5} value={value} onChange={(e) => onChange(e.target.value)} />
        )}
      </Field>
      {value.trim() && (
        <section className="text-preview" aria-label={t("As the page shows it")}>
          <p className="muted">{t("As the page shows it")}</p>
          <div className="sp-text">
            <Suspense fallback={null}>
              <Markdown text={value} />
            </Suspense>
          </div>
        </section>
      )}
    </>
  );
}

/** A text as the page shows it. */
export function Shown({ text }: { text: string }) {
  return (
    <div className="sp-text">
      <Suspense fallback={<p>{text}</p>}>
        <Markdown text={text} />
      </Suspense>
    </div>
  );
}
