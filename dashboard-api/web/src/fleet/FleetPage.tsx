import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../api/endpoints";
import type { Fleet, State } from "../api/types";
import { ErrorNote } from "../ui/ErrorNote";
import { useRegionPlans } from "../ui/retired";
import { CopyNote, StoreNotices, untilFresh, useFleet } from "../ui/Stale";
import { StateIcon } from "../ui/StateIcon";
import { Ago } from "../ui/time";
import { count, duration, plural } from "../ui/words";
import { LedgerTable } from "./LedgerTable";
import { ForgetProber, RegionActions, Retired } from "./Retired";
import "../styles/fleet.css";

const LAG_WORTH_SAYING_S = 3; // checks are published a second ahead of their slot

type LedgerRange = "1" | "24" | "168";
const ledgerRanges: [LedgerRange, string][] = [
  ["1", "Last hour"],
  ["24", "Last 24 hours"],
  ["168", "Last 7 days"],
];

/** Who is probing, what they are waiting for, and whether every planned check is accounted for. */
export function FleetPage() {
  const [hours, setHours] = useState<LedgerRange>("1");
  const fleet = useFleet();
  const ledger = useQuery({
    queryKey: ["ledger", hours],
    queryFn: () => {
      const to = Date.now();
      return api.ledger({
        from: new Date(to - Number(hours) * 3_600_000).toISOString(),
        to: new Date(to).toISOString(),
      });
    },
    refetchInterval: untilFresh(30_000),
    placeholderData: keepPreviousData,
  });
  return (
    <div className="page">
      <div className="page-head">
        <div>
          <h1>Fleet</h1>
          <p className="muted">{fleet.data ? sentence(fleet.data) : "Asking the probers"}</p>
        </div>
      </div>
      {fleet.error && !fleet.data && <ErrorNote error={fleet.error} onRetry={() => void fleet.refetch()} />}
      {fleet.isPending && <div className="skeleton page-skeleton" />}
      {fleet.data && (
        <>
          <StoreNotices fleet={fleet.data} />
          <Stores fleet={fleet.data} />
          {fleet.data.regions.length === 0 && (
            <div className="card empty">
              <h2>No region yet</h2>
              <p>Start a prober with its own REGION and it announces itself here. Until then nothing is checked.</p>
            </div>
          )}
          {fleet.data.regions.map((region) => (
            <RegionCard key={region.region} region={region} />
          ))}
          <Retired />
        </>
      )}

      <section className="card" aria-labelledby="ledger">
        <div className="card-head">
          <div>
            <h2 id="ledger">Ledger</h2>
            <p className="muted">Every planned check ends in exactly one outcome.</p>
          </div>
          <CopyNote of={ledger.data} />
          <label className="push">
            <span className="sr">Period</span>
            <select className="input" value={hours} onChange={(event) => setHours(event.target.value as LedgerRange)}>
              {ledgerRanges.map(([value, label]) => (
                <option key={value} value={value}>
                  {label}
                </option>
              ))}
            </select>
          </label>
        </div>
        {ledger.error && !ledger.data && <ErrorNote error={ledger.error} onRetry={() => void ledger.refetch()} />}
        {ledger.isPending && <div className="skeleton chart-skeleton" />}
        {ledger.data && <LedgerTable lines={ledger.data.items} />}
      </section>
    </div>
  );
}

function sentence(fleet: Fleet): string {
  const probers = fleet.regions.reduce((n, region) => n + (region.probers?.length ?? 0), 0);
  const silent = fleet.regions.filter((region) => !region.live).map((region) => region.region);
  const text = `${plural(probers, "prober")} in ${plural(fleet.regions.length, "region")}`;
  return silent.length > 0 ? `${text}. Silent: ${silent.join(", ")}` : text;
}

function Stores({ fleet }: { fleet: Fleet }) {
  const { redis, clickhouse, publisher } = fleet;
  return (
    <div className="stats four">
      <Stat
        state={publisher.leader ? "up" : "down"}
        label="Publisher"
        value={publisher.leader ?? "No leader"}
        note={publisher.last_tick ? <Ago at={publisher.last_tick} /> : "never published"}
        before="last tick "
      />
      <Stat
        state={fleet.stale_since ? "down" : redis.durable ? "up" : "degraded"}
        label="Redis"
        value={fleet.stale_since ? "Not answering" : redis.embedded ? "Embedded" : `Version ${redis.version}`}
        note={redis.durable ? "durable" : "not durable: a restart loses the queue"}
      />
      <Stat
        state={clickhouse.ok ? "up" : "down"}
        label="ClickHouse"
        value={clickhouse.ok ? "Answering" : "Not answering"}
        note={clickhouse.down_since ? <Ago at={clickhouse.down_since} bare /> : "stores the results"}
        before={clickhouse.down_since ? "for " : ""}
      />
      <Stat
        state={redis.dead_letters > 0 ? "degraded" : "up"}
        label="Queue"
        value={plural(redis.backlog, "entry", "entries")}
        note={plural(redis.dead_letters, "dead letter")}
      />
    </div>
  );
}

function Stat(props: { state: State; label: string; value: string; note: React.ReactNode; before?: string }) {
  return (
    <div className="card stat">
      <h2 className="row">
        <StateIcon state={props.state} size={15} label /> {props.label}
      </h2>
      <p className="value cut" title={props.value}>
        {props.value}
      </p>
      <p className="muted">
        {props.before}
        {props.note}
      </p>
    </div>
  );
}

function RegionCard({ region }: { region: Fleet["regions"][number] }) {
  const probers = region.probers ?? [];
  const plan = useRegionPlans().data?.items.find((one) => one.region === region.region);
  const leaving = plan?.state === "leaving" || plan?.state === "retired";
  return (
    <section className="card" aria-label={`Region ${region.region}`}>
      <div className="card-head">
        <StateIcon state={region.live ? "up" : "no_data"} size={20} />
        <h2>{region.region}</h2>
        <span className="muted">{leaving ? "retired, its history stays" : region.live ? "reporting" : "silent"}</span>
        <span className="muted push">
          {count(region.pending)} pending,{" "}
          {region.lag_s >= LAG_WORTH_SAYING_S ? `${duration(region.lag_s)} behind` : "no lag"}
          {region.spooled > 0 && `, ${count(region.spooled)} spooled`}
        </span>
        {!region.live && !leaving && <RegionActions region={region.region} />}
      </div>
      {probers.length === 0 ? (
        <p className="pad muted">No prober of this region is running.</p>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
        <section className="scroll-x" tabIndex={0} aria-label={`Probers of ${region.region}`}>
          <table>
            <thead>
              <tr>
                <th scope="col">Prober</th>
                <th scope="col">Heartbeat</th>
                <th scope="col" className="num">
                  In flight
                </th>
                <th scope="col" className="num">
                  Waiting
                </th>
                <th scope="col" className="num">
                  Lateness p50
                </th>
                <th scope="col" className="num">
                  p99
                </th>
                <th scope="col">ClickHouse</th>
                <th scope="col" className="num">
                  Spooled
                </th>
                <th scope="col">Open ranges</th>
                <th scope="col">Version</th>
              </tr>
            </thead>
            <tbody>
              {probers.map((prober) => (
                <tr key={prober.name}>
                  <td>
                    <b>{prober.name}</b>
                  </td>
                  <td>
                    <Ago at={prober.heartbeat_at} /> <ForgetProber region={region.region} prober={prober} />
                  </td>
                  <td className="num">{count(prober.in_flight)}</td>
                  <td className="num">{count(prober.waiting)}</td>
                  <td className="num">{Math.round(prober.lateness_p50_ms)} ms</td>
                  <td className="num">{Math.round(prober.lateness_p99_ms)} ms</td>
                  <td>{prober.breaker === "open" ? "cut off" : prober.clickhouse}</td>
                  <td className="num">
                    {count(prober.spooled)}
                    {prober.spool_first && (
                      <span className="muted">
                        , oldest <Ago at={prober.spool_first} bare />
                      </span>
                    )}
                  </td>
                  <td>{prober.allow_cidrs?.length ? prober.allow_cidrs.join(", ") : "none"}</td>
                  <td className="muted">{prober.version}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
    </section>
  );
}
