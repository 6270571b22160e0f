import type { Lacks } from "../api/types";
import { useZone } from "../app/preferences";
import { Rich } from "../words/Rich";
import { locale, t } from "../words/t";
import { Clock } from "./time";

const day = (zone: "local" | "utc") =>
  new Intl.DateTimeFormat(locale(), {
    day: "numeric",
    month: "short",
    year: "numeric",
    ...(zone === "utc" ? { timeZone: "UTC" } : {}),
  });

/** Says of figures over a range that begins before what is kept from when on there are any. */
export function KeptNote({ of, brief = false }: { of: Lacks | undefined; brief?: boolean }) {
  const [zone] = useZone();
  if (!of?.kept_since) return brief ? null : <LackNote of={of} />;
  const since = day(zone).format(new Date(of.kept_since));
  return brief ? (
    <span className="kept-note">{t("kept since {day}", { day: since })}</span>
  ) : (
    <span className="kept-note">
      {t("Kept since {day}: what is missing before was dropped, it was no silence.", { day: since })}{" "}
      <LackNote of={of} />
    </span>
  );
}

/** Says of figures what may still come into them, and what could not be made. */
export function LackNote({ of }: { of: Lacks | undefined }) {
  const hours = (of?.not_computed ?? []).reduce((sum, lack) => sum + hoursOf(lack), 0);
  return (
    <>
      {of?.settled_until && (
        <span className="kept-note">
          <Rich
            text="Checks due since {time} are not all accounted for yet: some may be missing here."
            time={<Clock at={of.settled_until} dated />}
          />{" "}
        </span>
      )}
      {hours > 0 && (
        <span className="kept-note">
          {t("{n, plural, one {# hour} other {# hours}} could not be computed: what is missing there was no silence.", {
            n: hours,
          })}
        </span>
      )}
    </>
  );
}

const hoursOf = ({ from, to }: { from: string; to: string }) =>
  Math.ceil((Date.parse(to) - Date.parse(from)) / 3_600_000);
