import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { lazy, Suspense, useState } from "react";
import { api } from "../api/endpoints";
import type { Fleet, State } from "../api/types";
import { AsOfNote, useAsOf } from "../ui/AsOf";
import { ErrorNote } from "../ui/ErrorNote";
import { useRegionPlans } from "../ui/retired";
import { CopyNote, FLEET_EVERY_MS, StoreNotices, untilFresh, useFleet } from "../ui/Stale";
import { StateIcon } from "../ui/StateIcon";
import { Ago } from "../ui/time";
import { duration, listed } from "../ui/words";
import { Rich } from "../words/Rich";
import { locale, t } from "../words/t";
import { LedgerTable } from "./LedgerTable";
import { ProberRow } from "./ProberRow";
import { allDrained } from "./proberWords";
import { RegionActions, Retired } from "./Retired";
import "../styles/fleet.css";

const AddRegion = lazy(() => import("./AddRegion"));
const DeadLetters = lazy(() => import("./DeadLetters"));

const CLICKHOUSE = "ClickHouse";

const engines = { sqlite: "SQLite", postgres: "PostgreSQL" };
const fine = new Intl.NumberFormat(locale(), { maximumSignificantDigits: 2 });

const LEDGER_EVERY_MS = 30_000;
const LAG_WORTH_SAYING_S = 3; // checks are published a second ahead of their slot

type Period = keyof typeof periodHours;
const periodHours = { "1h": 1, "24h": 24, "7d": 168 };
const USUAL_PERIOD = "1h";
const periods: [Period, string][] = [
  ["1h", t("Last hour")],
  ["24h", t("Last 24 hours")],
  ["7d", t("Last 7 days")],
];

/** Who is probing, what they are waiting for, and whether every planned check is accounted for. */
export function FleetPage() {
  const period: Period = useSearch({ from: "/app/fleet" }).ledger ?? USUAL_PERIOD;
  const navigate = useNavigate({ from: "/fleet" });
  const show = (asked: Period) =>
    void navigate({
      search: { ledger: asked === USUAL_PERIOD ? undefined : asked },
      replace: true,
      resetScroll: false,
    });
  const fleet = useFleet();
  const asOf = useAsOf(fleet, FLEET_EVERY_MS);
  const ledger = useQuery({
    queryKey: ["ledger", period],
    queryFn: () => {
      const to = Date.now();
      return api.ledger({
        from: new Date(to - periodHours[period] * 3_600_000).toISOString(),
        to: new Date(to).toISOString(),
      });
    },
    refetchInterval: untilFresh(LEDGER_EVERY_MS),
    refetchOnWindowFocus: true,
    placeholderData: keepPreviousData,
  });
  const ledgerAsOf = useAsOf(ledger, LEDGER_EVERY_MS);
  return (
    <div className="page">
      <div className="page-head">
        <div>
          <h1>{t("Fleet")}</h1>
          <p className="muted">
            {fleet.data ? sentence(fleet.data) : t("Asking the probers")} <AsOfNote at={asOf} />
          </p>
        </div>
        <AddRegionButton />
      </div>
      {fleet.error && !fleet.data && <ErrorNote error={fleet.error} onRetry={() => void fleet.refetch()} />}
      {fleet.isPending && <div className="skeleton page-skeleton" />}
      {fleet.data && (
        <>
          <StoreNotices fleet={fleet.data} />
          <Stores fleet={fleet.data} known={asOf === null} />
          {fleet.data.regions.length === 0 && (
            <div className="card empty">
              <h2>{t("No region yet")}</h2>
              <p>
                {t(
                  "Start a prober with its own {variable} and it announces itself here. Until then nothing is checked.",
                  { variable: "REGION" },
                )}
              </p>
            </div>
          )}
          {fleet.data.regions.map((region) => (
            <RegionCard key={region.region} region={region} known={asOf === null} />
          ))}
          <Retired />
        </>
      )}

      {!fleet.isPending && (
        <section className="card" aria-labelledby="ledger">
          <div className="card-head">
            <div>
              <h2 id="ledger">{t("Ledger")}</h2>
              <p className="muted">{t("Every planned check ends in exactly one outcome.")}</p>
            </div>
            <CopyNote of={ledger.data} />
            <AsOfNote at={ledgerAsOf} />
            <label className="push">
              <span className="sr">{t("Period")}</span>
              <select className="input" value={period} onChange={(event) => show(event.target.value as Period)}>
                {periods.map(([value, label]) => (
                  <option key={value} value={value}>
                    {label}
                  </option>
                ))}
              </select>
            </label>
          </div>
          {ledger.error && !ledger.data && <ErrorNote error={ledger.error} onRetry={() => void ledger.refetch()} />}
          {ledger.isPending && <div className="skeleton chart-skeleton" />}
          {ledger.data && (
            <LedgerTable ledger={ledger.data} present={ledgerAsOf === null && !ledger.data.stale_since} />
          )}
        </section>
      )}
      {fleet.data && fleet.data.redis.dead_letters > 0 && (
        <Suspense>
          <DeadLetters all={fleet.data.redis.dead_letters} />
        </Suspense>
      )}
    </div>
  );
}

function AddRegionButton() {
  const session = useQuery({ queryKey: ["session"], queryFn: ({ signal }) => api.session(signal) });
  const [open, setOpen] = useState(false);
  if (session.data?.role !== "owner") return null;
  return (
    <>
      <button type="button" className="btn push" onClick={() => setOpen(true)}>
        <Plus size={15} aria-hidden /> {t("Add a region")}
      </button>
      {open && (
        <Suspense>
          <AddRegion onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  );
}

function sentence(fleet: Fleet): string {
  const probers = fleet.regions.reduce((n, region) => n + (region.probers?.length ?? 0), 0);
  const silent = fleet.regions.filter((region) => !region.live).map((region) => region.region);
  const given = { probers, regions: fleet.regions.length, silent: listed(silent) };
  return silent.length > 0
    ? t(
        "{probers, plural, one {# prober} other {# probers}} in {regions, plural, one {# region} other {# regions}}. Silent: {silent}",
        given,
      )
    : t(
        "{probers, plural, one {# prober} other {# probers}} in {regions, plural, one {# region} other {# regions}}",
        given,
      );
}

/** What stands behind the probers. While it is not known how things are now, none of it is well. */
function Stores({ fleet, known }: { fleet: Fleet; known: boolean }) {
  const { redis, clickhouse, database, publisher } = fleet;
  const of = (state: State): State => (known ? state : "no_data");
  const told = known && !fleet.stale_since; // what only Redis tells
  return (
    <div className="stats stores">
      <Stat
        state={!told ? "no_data" : publisher.leader ? "up" : "down"}
        name={t("Publisher")}
        value={publisher.leader ?? t("No leader")}
        note={
          publisher.last_tick ? (
            <Rich text="last tick {time}" time={<Ago at={publisher.last_tick} />} />
          ) : (
            t("last tick never published")
          )
        }
      />
      <Stat
        state={of(fleet.stale_since ? "down" : redis.durable ? "up" : "degraded")}
        name="Redis"
        value={
          fleet.stale_since
            ? t("Not answering")
            : redis.embedded
              ? t("Embedded")
              : t("Version {version}", { version: redis.version })
        }
        note={t(redis.durable ? "durable" : "not durable: a restart loses the queue")}
      />
      <Stat
        state={of(clickhouse.ok ? "up" : "down")}
        name="ClickHouse"
        value={t(!known ? "Not known" : clickhouse.ok ? "Answering" : "Not answering")}
        note={
          clickhouse.down_since ? (
            <Rich text="for {time}" time={<Ago at={clickhouse.down_since} bare />} />
          ) : (
            t("stores the results")
          )
        }
      />
      {database && (
        <Stat
          state={of(database.ok ? "up" : "down")}
          name={engines[database.engine]}
          value={t(!known ? "Not known" : database.ok ? "Answering" : "Not answering")}
          note={
            database.down_since ? (
              <Rich text="for {time}" time={<Ago at={database.down_since} bare />} />
            ) : (
              t("answers in {n} ms", { n: fine.format(database.latency_ms ?? 0) })
            )
          }
        />
      )}
      <Stat
        state={!told ? "no_data" : redis.dead_letters > 0 ? "degraded" : "up"}
        name={t("Queue")}
        value={t("{n, plural, one {# entry} other {# entries}}", { n: redis.backlog })}
        note={<Letters n={redis.dead_letters} />}
      />
    </div>
  );
}

function Stat(props: { state: State; name: string; value: string; note: React.ReactNode }) {
  return (
    <div className="card stat">
      <h2 className="row">
        <StateIcon state={props.state} size={15} label /> {props.name}
      </h2>
      <p className="value cut" title={props.value}>
        {props.value}
      </p>
      <p className="muted">{props.note}</p>
    </div>
  );
}

/** How many were given up, with the way to them. */
function Letters({ n }: { n: number }) {
  const words = t("{n, plural, one {# dead letter} other {# dead letters}}", { n });
  if (n === 0) return words;
  return (
    <a href="#dead-letters" className="link">
      {words}
    </a>
  );
}

function RegionCard({ region, known }: { region: Fleet["regions"][number]; known: boolean }) {
  const probers = region.probers ?? [];
  const plan = useRegionPlans().data?.items.find((one) => one.region === region.region);
  const leaving = plan?.state === "leaving" || plan?.state === "retired";
  const drained = allDrained(region);
  return (
    <section className="card" aria-label={t("Region {region}", { region: region.region })}>
      <div className="card-head">
        <StateIcon state={!known ? "no_data" : drained ? "paused" : region.live ? "up" : "no_data"} size={20} />
        <h2>{region.region}</h2>
        <span className="muted">
          {t(
            leaving
              ? "retired, its history stays"
              : !known
                ? "not known now"
                : drained
                  ? "drained"
                  : region.live
                    ? "reporting"
                    : "silent",
          )}
        </span>
        <span className="muted push">
          {t(
            "{pending, plural, one {# pending} other {# pending}}, {late, select, yes {{lag} behind} other {no lag}}{spooled, plural, =0 {} one {, # spooled} other {, # spooled}}",
            {
              pending: region.pending,
              late: region.lag_s >= LAG_WORTH_SAYING_S ? "yes" : "no",
              lag: duration(region.lag_s),
              spooled: region.spooled,
            },
          )}
          {region.dead_letters !== undefined && (
            <>
              {" · "}
              <Letters n={region.dead_letters} />
            </>
          )}
        </span>
        {!region.live && !leaving && <RegionActions region={region.region} />}
      </div>
      {probers.length === 0 ? (
        <p className="pad muted">{t("No prober of this region is running.")}</p>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
        <section className="scroll-x" tabIndex={0} aria-label={t("Probers of {region}", { region: region.region })}>
          <table className="probers">
            <thead>
              <tr>
                <th scope="col">{t("Prober")}</th>
                <th scope="col">{t("Heartbeat")}</th>
                <th scope="col" className="num">
                  {t("In flight")}
                </th>
                <th scope="col" className="num">
                  {t("Waiting")}
                </th>
                <th scope="col" className="num">
                  {t("Lateness {percentile}", { percentile: "p50" })}
                </th>
                <th scope="col" className="num">
                  p99
                </th>
                <th scope="col">{CLICKHOUSE}</th>
                <th scope="col" className="num">
                  {t("Spooled")}
                </th>
                <th scope="col">{t("Version")}</th>
              </tr>
            </thead>
            <tbody>
              {probers.map((prober) => (
                <ProberRow key={prober.name} region={region} prober={prober} />
              ))}
            </tbody>
          </table>
        </section>
      )}
    </section>
  );
}
