import { useZone } from "../app/preferences";
import { locale, t } from "../words/t";

/** Something over a range that may begin before what is kept. */
interface MaybeKept {
  kept_since?: string | null;
}

const day = (zone: "local" | "utc") =>
  new Intl.DateTimeFormat(locale(), {
    day: "numeric",
    month: "short",
    year: "numeric",
    ...(zone === "utc" ? { timeZone: "UTC" } : {}),
  });

/** Says of figures over a range that begins before what is kept from when on there are any. */
export function KeptNote({ of, brief = false }: { of: MaybeKept | undefined; brief?: boolean }) {
  const [zone] = useZone();
  if (!of?.kept_since) return null;
  const since = day(zone).format(new Date(of.kept_since));
  return brief ? (
    <span className="kept-note">{t("kept since {day}", { day: since })}</span>
  ) : (
    <span className="kept-note">
      {t("Kept since {day}: what is missing before was dropped, it was no silence.", { day: since })}
    </span>
  );
}
