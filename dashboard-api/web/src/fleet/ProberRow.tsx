import { ChevronRight, CirclePause, TriangleAlert } from "lucide-react";
import { type ReactNode, useId, useState } from "react";
import type { FleetRegion, Prober } from "../api/types";
import { Ago } from "../ui/time";
import { bytes, count, listed } from "../ui/words";
import { Rich } from "../words/Rich";
import { locale, t } from "../words/t";
import { DrainProber } from "./DrainProber";
import { canaryWords, clickhouseWords, clockWords, exitWords, warnings } from "./proberWords";
import { ForgetProber } from "./Retired";

const COLUMNS = 9;
const whole = new Intl.NumberFormat(locale(), { maximumFractionDigits: 0, useGrouping: false });

/** One prober: a line of figures, and below it, when it is opened, how the prober itself is. */
export function ProberRow({ region, prober }: { region: FleetRegion; prober: Prober }) {
  const [open, setOpen] = useState(false);
  const id = useId();
  return (
    <>
      <tr>
        <td>
          <button
            type="button"
            className="row-opener"
            aria-expanded={open}
            aria-controls={open ? id : undefined}
            onClick={() => setOpen(!open)}
          >
            <ChevronRight size={15} aria-hidden /> <b>{prober.name}</b>
            <span className="sr">{t("Details")}</span>
          </button>
          {prober.state && (
            <p className="prober-warning">
              <CirclePause size={13} aria-hidden className="s-paused" />{" "}
              {t("{state, select, draining {draining} drained {drained} other {{state}}}", { state: prober.state })}
            </p>
          )}
          {warnings(prober).map((one) => (
            <p key={one} className="prober-warning">
              <TriangleAlert size={13} aria-hidden className="s-degraded" /> {one}
            </p>
          ))}
        </td>
        <td>
          <Ago at={prober.heartbeat_at} /> <DrainProber region={region} prober={prober} />{" "}
          <ForgetProber region={region.region} prober={prober} />
        </td>
        <td className="num">{count(prober.in_flight)}</td>
        <td className="num">{count(prober.waiting)}</td>
        <td className="num">{t("{n} ms", { n: whole.format(prober.lateness_p50_ms) })}</td>
        <td className="num">{t("{n} ms", { n: whole.format(prober.lateness_p99_ms) })}</td>
        <td>{clickhouseWords(prober)}</td>
        <td className="num">
          {prober.spool_first ? (
            <Rich
              text="{n}<more>, oldest {time}</more>"
              more={(inner) => <span className="muted">{inner}</span>}
              n={count(prober.spooled)}
              time={<Ago at={prober.spool_first} bare />}
            />
          ) : (
            count(prober.spooled)
          )}
        </td>
        <td className="muted">{prober.version}</td>
      </tr>
      {open && (
        <tr id={id} className="prober-details">
          <td colSpan={COLUMNS}>
            <Details prober={prober} />
          </td>
        </tr>
      )}
    </>
  );
}

function Details({ prober }: { prober: Prober }) {
  const ended = exitWords(prober.last_exit);
  const { last_exit, started_at } = prober;
  return (
    <dl>
      <Detail name={t("Clock")}>{clockWords(prober.clock_offset_ms)}</Detail>
      <Detail name={t("Canaries")}>{prober.canaries && canaryWords(prober.canaries)}</Detail>
      <Detail name={t("Started")}>{started_at && <Ago at={started_at} />}</Detail>
      <Detail name={t("Before that")}>
        {ended && last_exit && (
          <>
            {ended}{" "}
            <span className="muted">
              (<Ago at={last_exit.at} />)
            </span>
          </>
        )}
      </Detail>
      <Detail name={t("Size on disk")}>{bytes(prober.spool_bytes ?? 0)}</Detail>
      <Detail name={t("Open ranges")}>{prober.allow_cidrs?.length ? listed(prober.allow_cidrs) : t("none")}</Detail>
    </dl>
  );
}

function Detail({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children || <span className="muted">{t("Not known")}</span>}</dd>
    </div>
  );
}
