import { useQuery } from "@tanstack/react-query";
import { api } from "../api/endpoints";
import type { Uptime } from "../api/types";
import { useLive } from "../app/live";
import { bounds } from "../report/words";
import { AsOfNote, useAsOf } from "../ui/AsOf";
import { KeptNote, LackNote } from "../ui/KeptNote";
import { CopyNote, untilFresh } from "../ui/Stale";
import { count, percent } from "../ui/words";
import { Rich } from "../words/Rich";
import { t } from "../words/t";
import { downtimeOf } from "./words";
import "../styles/uptime.css";

/** The ranges of uptime that are shown, in days. */
const ranges = [
  { days: 1, label: t("Uptime, 24 hours") },
  { days: 7, label: t("Uptime, 7 days") },
  { days: 30, label: t("Uptime, 30 days") },
  { days: 90, label: t("Uptime, 90 days") },
];

export function UptimeCards({ id }: { id: number }) {
  return ranges.map((range) => <UptimeCard key={range.days} id={id} {...range} />);
}

function UptimeCard({ id, days, label }: { id: number; days: number; label: string }) {
  const { store } = useLive();
  const uptime = useQuery({
    queryKey: ["uptime", id, days],
    queryFn: () => {
      const to = store.serverNow();
      return api.uptime(id, {
        from: new Date(to - days * 86_400_000).toISOString(),
        to: new Date(to).toISOString(),
      });
    },
    refetchInterval: untilFresh(days > 7 ? 300_000 : 60_000),
  });
  const asOf = useAsOf(uptime, false);
  const u = uptime.data;
  return (
    <div className="card stat">
      <h2>
        {label} <CopyNote of={u} /> <AsOfNote at={asOf} />
      </h2>
      <p className="big">{u ? percent(u.uptime) : uptime.error ? "–" : <span className="skeleton" />}</p>
      {(u || !uptime.error) && <p className="muted rests-on">{u && <RestsOn u={u} />}</p>}
      {uptime.error && !u && <p className="muted">{(uptime.error as Error).message}</p>}
    </div>
  );
}

/**
 * What an uptime rests on: how long it was down, checks counted, the share of planned checks that measured
 * anything, and what the uptime would be had the others found it down, or up.
 */
function RestsOn({ u }: { u: Uptime }) {
  const measured = u.up + u.degraded + u.down;
  return (
    <>
      {measured > 0 && (
        <>
          {downtimeOf(u)}
          <br />
        </>
      )}
      {t("{n, plural, one {# check} other {# checks}}, {down} down", { n: measured, down: count(u.down) })}
      <br />
      {u.kept_since ? (
        <Rich
          text={u.coverage === null ? "nothing was planned, {kept}" : "{share} of planned measured, {kept}"}
          share={percent(u.coverage, 1)}
          kept={<KeptNote of={u} brief />}
        />
      ) : (
        t(u.coverage === null ? "nothing was planned" : "{share} of planned measured", {
          share: percent(u.coverage, 1),
        })
      )}
      {bounds(u) && (
        <>
          <br />
          {bounds(u)}
        </>
      )}
      {(u.settled_until || u.not_computed) && (
        <>
          <br />
          <LackNote of={u} />
        </>
      )}
    </>
  );
}
