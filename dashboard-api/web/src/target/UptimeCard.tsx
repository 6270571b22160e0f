import { useQuery } from "@tanstack/react-query";
import { api } from "../api/endpoints";
import { KeptNote } from "../ui/KeptNote";
import { CopyNote, untilFresh } from "../ui/Stale";
import { count, percent } from "../ui/words";
import { Rich } from "../words/Rich";
import { t } from "../words/t";

/** Uptime with what it rests on: checks counted, and the share of planned checks that measured anything. */
export function UptimeCard({ id, days, label }: { id: number; days: number; label: string }) {
  const uptime = useQuery({
    queryKey: ["uptime", id, days],
    queryFn: () => {
      const to = Date.now();
      return api.uptime(id, {
        from: new Date(to - days * 86_400_000).toISOString(),
        to: new Date(to).toISOString(),
      });
    },
    refetchInterval: untilFresh(60_000),
  });
  const u = uptime.data;
  const measured = u ? u.up + u.degraded + u.down : 0;
  return (
    <div className="card stat">
      <h2>
        {label} <CopyNote of={u} />
      </h2>
      <p className="big">{u ? percent(u.uptime) : uptime.error ? "–" : <span className="skeleton" />}</p>
      {u && (
        <p className="muted">
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
        </p>
      )}
      {uptime.error && !u && <p className="muted">{(uptime.error as Error).message}</p>}
    </div>
  );
}
