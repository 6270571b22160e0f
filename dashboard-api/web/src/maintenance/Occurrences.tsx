import { useMemo } from "react";
import type { MaintenanceInput } from "../api/maintenance";
import { useLive } from "../app/live";
import { duration } from "../ui/words";
import { locale, t } from "../words/t";
import { occurrences } from "./occurrences";

/** When it will hold, before it is saved. */
export function Occurrences({ body, ready }: { body: MaintenanceInput; ready: boolean }) {
  const { store } = useLive();
  const found = useMemo(
    () => (ready ? occurrences({ ...body, rrule: body.rrule ?? "" }, store.serverNow()) : []),
    [body, ready, store],
  );
  const format = useMemo(() => {
    const options: Intl.DateTimeFormatOptions = {
      weekday: "short",
      day: "2-digit",
      month: "short",
      year: "numeric",
      hour: "2-digit",
      minute: "2-digit",
      hour12: false,
      timeZone: body.zone,
    };
    try {
      return new Intl.DateTimeFormat(locale(), options);
    } catch {
      return null;
    }
  }, [body.zone]);
  if (!ready || !format) return null;
  return (
    <div className="next-times">
      <h3>{t("It holds")}</h3>
      {found === null ? (
        <p className="muted">{t("This rule is worked out when it is saved; the list then says when it holds next.")}</p>
      ) : found.length === 0 ? (
        <p className="muted">{t("Never from now on: it would be over already.")}</p>
      ) : (
        <ol>
          {found.map(({ from, to }) => (
            <li key={from}>
              {format.format(from)} – {format.format(to)}{" "}
              <span className="muted">({duration((to - from) / 1000)})</span>
            </li>
          ))}
        </ol>
      )}
    </div>
  );
}
