import { History, RadioTower } from "lucide-react";
import { type FormEvent, useId, useState } from "react";
import type { Limit } from "../api/known";
import { useZone } from "../app/preferences";
import { useSaid } from "../app/useSaid";
import { browserZone } from "../report/month";
import { absolute } from "../ui/time";
import { t } from "../words/t";
import { fieldAt, instantAt, readable } from "./at";
import "../styles/known.css";

interface Asking {
  /** What is shown; undefined: the present. */
  at: string | undefined;
  onAt: (at: string | undefined) => void;
}

/** A quiet way into the past: a date and a time, by the clock of the chosen zone. */
export function AsKnownAt({ at, onAt }: Asking) {
  const [zone] = useZone();
  const name = zone === "utc" ? "UTC" : browserZone();
  const [open, setOpen] = useState(false);
  const field = useId();
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const asked = instantAt(String(new FormData(event.currentTarget).get("at") ?? ""), name);
    if (asked) onAt(asked);
  };
  if (!open && at === undefined) {
    return (
      <p className="known-ask">
        <button type="button" className="link" onClick={() => setOpen(true)}>
          <History size={14} aria-hidden /> {t("As known at…")}
        </button>
      </p>
    );
  }
  return (
    <form className="known-ask" onSubmit={submit}>
      <label htmlFor={field}>{t("As known at ({zone})", { zone: name })}</label>
      <input
        key={`${at} ${name}`}
        id={field}
        className="input"
        name="at"
        type="datetime-local"
        step={1}
        required
        defaultValue={fieldAt(readable(at) ? Date.parse(at) : Date.now(), name)}
      />
      <button type="submit" className="btn">
        {t("Show")}
      </button>
      {at === undefined && (
        <button type="button" className="btn" onClick={() => setOpen(false)}>
          {t("Cancel")}
        </button>
      )}
    </form>
  );
}

/** Says that what follows is the past, and leads back. */
export function Frozen({ at, onAt }: Asking & { at: string }) {
  const [zone] = useZone();
  const sentence = readable(at)
    ? t("As known at {at}: not live.", {
        at: zone === "utc" ? absolute(at, zone) : `${absolute(at, zone)} (${browserZone()})`,
      })
    : t("The instant that was asked for cannot be read: not live.");
  useSaid(sentence);
  return (
    <section className="banner warn known-frozen" aria-label={t("Not live")}>
      <History size={18} aria-hidden />
      <div className="stack">
        <p>
          <b>{sentence}</b> {t("Nothing that was learned later is shown as if it had been known.")}
        </p>
        <AsKnownAt at={at} onAt={onAt} />
      </div>
      <button type="button" className="btn push" onClick={() => onAt(undefined)}>
        <RadioTower size={15} aria-hidden /> {t("Back to live")}
      </button>
    </section>
  );
}

/** What cannot be told. */
export function Limits({ limits }: { limits: readonly Limit[] }) {
  if (limits.length === 0) return null;
  return (
    <section className="card" aria-labelledby="limits">
      <div className="card-head">
        <h2 id="limits">{t("What cannot be told")}</h2>
      </div>
      <ul className="known-limits">
        {limits.map((limit) => (
          <li key={limit.code}>{limit.text}</li>
        ))}
      </ul>
    </section>
  );
}
