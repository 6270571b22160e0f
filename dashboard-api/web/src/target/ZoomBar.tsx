import { CalendarClock, Undo2 } from "lucide-react";
import { type FormEvent, useId, useState } from "react";
import { useZone } from "../app/preferences";
import { fieldAt, instantAt } from "../known/at";
import { browserZone } from "../report/month";
import { t } from "../words/t";
import { within, type Zoom } from "./zoom";
import "../styles/zoom.css";

/** The range that is looked at closely, as two fields; and the way back. */
export function ZoomBar({
  zoom,
  shown,
  onZoom,
}: {
  zoom: Zoom | null;
  /** What is shown now. */
  shown: Zoom;
  onZoom: (zoom: Zoom | null) => void;
}) {
  const [zone] = useZone();
  const name = zone === "utc" ? "UTC" : browserZone();
  const [open, setOpen] = useState(false);
  const [wrong, setWrong] = useState(false);
  const id = useId();
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const at = (field: string) => Date.parse(instantAt(String(form.get(field) ?? ""), name) ?? "") / 1000;
    const next = within({ from: at("from"), to: at("to") });
    setWrong(next === null);
    if (next) onZoom(next);
  };
  if (!open && !zoom) {
    return (
      <p className="zoom">
        <button type="button" className="link" onClick={() => setOpen(true)}>
          <CalendarClock size={14} aria-hidden /> {t("Choose a range…")}
        </button>
        <span className="muted zoom-hint">{t("or drag across the chart")}</span>
      </p>
    );
  }
  const { from, to } = zoom ?? shown;
  const field = (key: "from" | "to", at: number) => (
    <input
      key={`${at} ${name}`}
      id={`${id}-${key}`}
      className="input"
      name={key}
      type="datetime-local"
      step={1}
      required
      aria-invalid={wrong || undefined}
      aria-describedby={wrong ? `${id}-wrong` : undefined}
      defaultValue={fieldAt(at * 1000, name)}
    />
  );
  return (
    <form className="zoom" onSubmit={submit}>
      <label htmlFor={`${id}-from`}>{t("Shown from ({zone})", { zone: name })}</label>
      {field("from", from)}
      <label htmlFor={`${id}-to`}>{t("until")}</label>
      {field("to", to)}
      <button type="submit" className="btn">
        {t("Show")}
      </button>
      {zoom ? (
        <button
          type="button"
          className="btn"
          onClick={() => {
            setOpen(false);
            setWrong(false);
            onZoom(null);
          }}
        >
          <Undo2 size={15} aria-hidden /> {t("Back to the whole range")}
        </button>
      ) : (
        <button type="button" className="btn" onClick={() => setOpen(false)}>
          {t("Cancel")}
        </button>
      )}
      {wrong && (
        <p id={`${id}-wrong`} className="zoom-wrong" role="alert">
          {t("From a minute to 90 days, the beginning first.")}
        </p>
      )}
    </form>
  );
}
