import { useZone } from "../app/preferences";

/** Something over a range that may begin before what is kept. */
interface MaybeKept {
  kept_since?: string | null;
}

const day = (zone: "local" | "utc") =>
  new Intl.DateTimeFormat("en-GB", {
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
    <span className="kept-note">kept since {since}</span>
  ) : (
    <span className="kept-note">Kept since {since}: what is missing before was dropped, it was no silence.</span>
  );
}
