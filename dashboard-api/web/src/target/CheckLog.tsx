import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { ChevronRight } from "lucide-react";
import { memo, useEffect, useMemo, useState } from "react";
import { api } from "../api/endpoints";
import { useZone } from "../app/preferences";
import type { TargetView } from "../live/store";
import { ErrorNote } from "../ui/ErrorNote";
import { Older } from "../ui/Older";
import { useRetired } from "../ui/retired";
import { CopyNote } from "../ui/Stale";
import { StateIcon } from "../ui/StateIcon";
import { Clock, dayOf, useToday } from "../ui/time";
import { useHeld } from "../ui/useHeld";
import { explain, latency, stateOfStatus, statusWords, tellingStatus } from "../ui/words";
import { t } from "../words/t";
import { CheckDetail } from "./CheckDetail";
import { type LogLine, mergeLog, slotsIn } from "./log";
import { asked, type Zoom } from "./zoom";
import "../styles/log.css";

const PAGE = 30;
const STORED_AFTER_MS = 2_500; // results are shown before they are stored

/** Every check of the target, or those of the range that is looked at closely, newest first; each opens to its evidence. */
export function CheckLog({ target, zoom }: { target: TargetView; zoom: Zoom | null }) {
  const queries = useQueryClient();
  const log = useInfiniteQuery({
    queryKey: ["results", target.id, zoom],
    queryFn: ({ pageParam }) => api.results(target.id, { limit: PAGE, cursor: pageParam, ...(zoom && asked(zoom)) }),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next_cursor,
  });
  const gone = useRetired();
  const pages = log.data?.pages;
  const lines = useMemo(() => {
    const live = slotsIn(target.slots, zoom);
    // Until the stored ones come no more are shown than will be.
    return pages
      ? mergeLog(
          pages.flatMap((page) => page.items),
          live,
        )
      : mergeLog([], live).slice(0, PAGE);
  }, [pages, target.slots, zoom]);

  const held = useHeld(lines, keyOf, `${target.id} ${zoom?.from} ${zoom?.to}`);

  const [zone] = useZone();
  const today = useToday();
  const dated = lines.some((line) => dayOf(line.at, zone) !== today);

  // Fetch the full rows once what the live feed showed has been stored.
  const incomplete = pages !== undefined && lines.some((line) => line.full === null);
  const newest = lines[0]?.key;
  // biome-ignore lint/correctness/useExhaustiveDependencies: each new line starts the wait again
  useEffect(() => {
    if (!incomplete) return;
    const timer = setTimeout(() => {
      void queries.invalidateQueries({ queryKey: ["results", target.id] });
    }, STORED_AFTER_MS);
    return () => clearTimeout(timer);
  }, [incomplete, newest, target.id, queries]);

  return (
    <section className="card" aria-labelledby="checks" {...held.card}>
      <div className="card-head">
        <h2 id="checks">
          {t(zoom ? "Checks of the range" : target.kind === "heartbeat" ? "Recent pings" : "Recent checks")}
        </h2>
        <CopyNote of={pages?.find((page) => page.stale_since)} />
        {held.chip}
      </div>
      {log.error && !pages && <ErrorNote error={log.error} onRetry={() => void log.refetch()} />}
      {log.isPending && lines.length === 0 && <div className="skeleton chart-skeleton holds" />}
      {pages && lines.length === 0 && (
        <p className="pad muted">
          {t(
            zoom
              ? "No checks in this range."
              : target.kind === "heartbeat"
                ? "No pings yet. The first one appears here as soon as it arrives; one that does not come in time, too."
                : "No checks yet. The first one appears here as soon as it is done.",
          )}
        </p>
      )}
      <ul className="log" data-dated={dated || undefined}>
        {held.items.map((line) => (
          <LogRow key={line.key} line={line} kind={target.kind} retired={gone.has(line.region)} />
        ))}
      </ul>
      <Older of={log} />
    </section>
  );
}

const keyOf = (line: LogLine) => line.key;

const LogRow = memo(
  function LogRow({ line, kind, retired }: { line: LogLine; kind: string; retired: boolean }) {
    const [open, setOpen] = useState(false);
    const told = kind === "heartbeat" ? line.full?.message : ""; // by the job, or that no ping came
    const why = told || explain(line.failure, line.reason, tellingStatus(kind, line.full?.http_status ?? 0));
    const status = line.full?.http_status ? `HTTP ${line.full.http_status}` : "";
    return (
      <li data-slot={line.key}>
        <button type="button" className="log-row" aria-expanded={open} onClick={() => setOpen(!open)}>
          <StateIcon state={stateOfStatus(line.status)} size={16} />
          <span className="log-word">{statusWords[line.status]}</span>
          <span className="log-time">
            <Clock at={line.at} />
          </span>
          <span className="log-region cut">
            {kind === "heartbeat" ? "" : line.region}
            {retired && <span className="tag">{t("retired")}</span>}
          </span>
          <span className="log-why cut" data-status={why === "" || undefined}>
            {why || status}
          </span>
          <span className="log-total">{line.totalUs > 0 ? latency(line.totalUs) : "–"}</span>
          <ChevronRight size={15} aria-hidden className="turn" />
        </button>
        {open && <CheckDetail line={line} kind={kind} />}
      </li>
    );
  },
  (a, b) =>
    a.line.key === b.line.key &&
    a.retired === b.retired &&
    a.line.status === b.line.status &&
    a.line.totalUs === b.line.totalUs &&
    (a.line.full === null) === (b.line.full === null),
);
