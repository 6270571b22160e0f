import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { ChevronLeft, ChevronRight, Download, Printer, TriangleAlert } from "lucide-react";
import { api, reportCsv } from "../api/endpoints";
import type { Report, ReportTarget } from "../api/types";
import { useZone } from "../app/preferences";
import { ErrorNote } from "../ui/ErrorNote";
import { KeptNote } from "../ui/KeptNote";
import { CopyNote, untilFresh } from "../ui/Stale";
import { absolute } from "../ui/time";
import { percent } from "../ui/words";
import { Rich } from "../words/Rich";
import { locale, t } from "../words/t";
import { browserZone, isMonth, monthAt, monthName, monthPlus } from "./month";
import { bounds, byName, downtime, measured, sentence, times, uptimeText } from "./words";
import "../styles/report.css";

/** A month of every target on as few sheets of paper as it takes. */
export function ReportPage() {
  const { month } = useParams({ from: "/app/reports/$month" });
  const search = useSearch({ from: "/app/reports/$month" });
  const [preferred] = useZone();
  const zone = search.zone ?? (preferred === "utc" ? "UTC" : browserZone());
  const report = useQuery({
    queryKey: ["report", month, zone],
    queryFn: () => api.report(month, zone),
    refetchInterval: untilFresh(60_000),
    placeholderData: keepPreviousData,
  });
  const shown = report.data?.month ?? month; // until another month has come the sheet is that of the one before
  return (
    <div className="page report">
      <div className="page-head">
        <div>
          <h1>
            <Rich text="Uptime report {month}" month={<span className="nowrap">{monthName(shown)}</span>} />
          </h1>
          <p className="muted">
            {report.data ? sentence(report.data) : t("Counting")} <CopyNote of={report.data} />{" "}
            <KeptNote of={report.data} />
          </p>
        </div>
        <Controls month={month} zone={zone} chosen={search.zone} />
      </div>
      {report.error && !report.data && <ErrorNote error={report.error} onRetry={() => void report.refetch()} />}
      {report.isPending && <div className="skeleton page-skeleton" />}
      {report.data && <Sheet report={report.data} fetchedAt={report.dataUpdatedAt} />}
    </div>
  );
}

function Controls({ month, zone, chosen }: { month: string; zone: string; chosen: string | undefined }) {
  const navigate = useNavigate();
  const newest = monthAt(Date.now(), "Pacific/Kiritimati"); // where each month begins first
  const search = chosen ? { zone: chosen } : {};
  const go = (to: string) => void navigate({ to: "/reports/$month", params: { month: to }, search });
  return (
    <div className="report-controls push">
      <div className="row">
        {isMonth(month) && (
          <Link
            className="icon-btn"
            to="/reports/$month"
            params={{ month: monthPlus(month, -1) }}
            search={search}
            aria-label={t("Month before")}
          >
            <ChevronLeft size={18} aria-hidden />
          </Link>
        )}
        <label>
          <span className="sr">{t("Month")}</span>
          <input
            className="input"
            type="month"
            value={isMonth(month) ? month : ""}
            max={newest}
            onChange={(event) => isMonth(event.target.value) && go(event.target.value)}
          />
        </label>
        {isMonth(month) && month < newest && (
          <Link
            className="icon-btn"
            to="/reports/$month"
            params={{ month: monthPlus(month, 1) }}
            search={search}
            aria-label={t("Month after")}
          >
            <ChevronRight size={18} aria-hidden />
          </Link>
        )}
      </div>
      <div className="row">
        <a className="btn" href={reportCsv(month, zone)} download>
          <Download size={16} aria-hidden /> {"CSV"}
        </a>
        <button type="button" className="btn" onClick={() => window.print()}>
          <Printer size={16} aria-hidden /> {t("Print")}
        </button>
      </div>
    </div>
  );
}

function Sheet({ report, fetchedAt }: { report: Report; fetchedAt: number }) {
  if (report.targets.length === 0)
    return (
      <div className="card empty">
        <h2>{t("No target yet")}</h2>
        <p>{t("A report has a line for each target that is there.")}</p>
      </div>
    );
  return (
    <>
      {!report.complete && (
        <div className="banner">
          <TriangleAlert size={17} aria-hidden className="s-no_data" />
          <p>
            {t(
              Date.parse(report.from) > Date.now()
                ? "This month has not begun."
                : "This month is not over yet. The figures, and the hash, go on changing.",
            )}
          </p>
        </div>
      )}
      <section className="card">
        <table>
          <thead>
            <tr>
              <th scope="col">{t("Target")}</th>
              <th scope="col" className="num">
                {t("Uptime")}
              </th>
              <th scope="col" className="num">
                {t("Measured")}
              </th>
              <th scope="col" className="num">
                {t("Downtime")}
              </th>
            </tr>
          </thead>
          <tbody>
            {byName(report.targets).map((target) => (
              <Row key={target.target_id} target={target} zone={report.zone} />
            ))}
          </tbody>
        </table>
      </section>
      <Foot report={report} fetchedAt={fetchedAt} />
    </>
  );
}

function Row({ target, zone }: { target: ReportTarget; zone: string }) {
  const f = target.folded;
  return (
    <tr>
      <th scope="row">
        <Link to="/targets/$id" params={{ id: String(target.target_id) }}>
          {target.name}
        </Link>
        {f.revised_at && <small>{t("corrected {day}", { day: day(f.revised_at, zone) })}</small>}
      </th>
      <td className="num">
        <b>{uptimeText(f)}</b>
        <small>{bounds(f)}</small>
      </td>
      <td className="num">
        {f.coverage === null ? "–" : percent(f.coverage, 1)}
        <small>{measured(f)}</small>
      </td>
      <td className="num">
        {f.checks === 0 ? "–" : f.down > 0 ? <b>{downtime(f.downtime_minutes)}</b> : downtime(0)}
        <small>{times(target)}</small>
      </td>
    </tr>
  );
}

function Foot({ report, fetchedAt }: { report: Report; fetchedAt: number }) {
  const excluded = report.targets.some((target) => target.folded.excluded > 0);
  return (
    <footer className="report-foot">
      <p>
        <Rich
          text="<b>Uptime</b>: of the checks that were measured, those that did not find the target down. It is down when more than half of the regions that measured say so. <b>Measured</b>: of the planned checks, those that were. What was not measured is not guessed: where two bounds stand below an uptime, it lies between them. Percentages are rounded down."
          b={(inner) => <b>{inner}</b>}
        />{" "}
        {excluded && t("Checks within maintenance count nowhere.")}
      </p>
      <dl>
        <dt>{t("Month")}</dt>
        <dd>
          {t("{month} in {zone}: {from} to {to}", {
            month: monthName(report.month),
            zone: report.zone,
            from: absolute(report.from, "utc"),
            to: absolute(report.to, "utc"),
          })}
        </dd>
        <dt>{t("Content hash")}</dt>
        <dd className="mono hash">{report.content_hash}</dd>
        <dt>{t("Made")}</dt>
        <dd>{t("{time} by Probefleet", { time: absolute(report.stale_since ?? fetchedAt, "utc") })}</dd>
      </dl>
    </footer>
  );
}

const day = (at: string, zone: string): string =>
  new Intl.DateTimeFormat(locale(), { day: "numeric", month: "short", timeZone: zone }).format(new Date(at));
