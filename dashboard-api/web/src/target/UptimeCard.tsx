import { useQuery } from "@tanstack/react-query";
import { api } from "../api/endpoints";
import { KeptNote } from "../ui/KeptNote";
import { CopyNote, untilFresh } from "../ui/Stale";
import { count, percent } from "../ui/words";

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
          {count(measured)} checks, {count(u.down)} down
          <br />
          {u.coverage === null ? "nothing was planned" : `${percent(u.coverage, 1)} of planned measured`}
          {u.kept_since && ", "}
          <KeptNote of={u} brief />
        </p>
      )}
      {uptime.error && !u && <p className="muted">{(uptime.error as Error).message}</p>}
    </div>
  );
}
