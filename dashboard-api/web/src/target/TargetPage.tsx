import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { Activity, ChevronLeft, ExternalLink, Pause, Pencil, Play, SlidersHorizontal, Trash2 } from "lucide-react";
import { lazy, type ReactNode, Suspense, useMemo, useState } from "react";
import { api } from "../api/endpoints";
import { useKeys } from "../app/keys";
import { useFilled, useList, useLive, useTargetView } from "../app/live";
import type { Range, TargetSearch } from "../app/router";
import { useActivity } from "../app/useActivity";
import { useRemove } from "../app/useRemove";
import { useMayEdit } from "../app/useSelf";
import { useTest } from "../app/useTest";
import { KnownTarget } from "../known/KnownTarget";
import { AskTarget } from "../known/ways";
import type { TargetView } from "../live/store";
import { ErrorNote } from "../ui/ErrorNote";
import { KindBadge } from "../ui/KindBadge";
import { StoreNotices, useFleet } from "../ui/Stale";
import { StateIcon } from "../ui/StateIcon";
import { Ago } from "../ui/time";
import { whyWords } from "../ui/why";
import { duration, explain, latency, listed, safeHref, shortUrl, stateWords } from "../ui/words";
import { Rich } from "../words/Rich";
import { t } from "../words/t";
import { CheckLog } from "./CheckLog";
import { HeartbeatCards, Schedule } from "./HeartbeatCard";
import { HistogramCard } from "./HistogramCard";
import { MatrixCard } from "./MatrixCard";
import { Performance } from "./Performance";
import { RegionCards } from "./RegionCards";
import { StripCard } from "./StripCard";
import { TargetIncidents } from "./TargetIncidents";
import { TermsNote } from "./TermsNote";
import { UptimeCards } from "./UptimeCard";
import { YearCard } from "./YearCard";
import { asked, type Zoom, zoomOf } from "./zoom";
import "../styles/target.css";
import "../styles/figures.css";
import { Sections } from "./Sections";

const TargetDialog = lazy(() => import("../targetform/TargetDialog"));
const AlertsCard = lazy(() => import("./AlertsCard"));
const RevisionsCard = lazy(() => import("./RevisionsCard"));

export function TargetPage() {
  const id = Number(useParams({ from: "/app/targets/$id" }).id);
  const { at } = useSearch({ from: "/app/targets/$id" });
  return at === undefined ? <Present id={id} /> : <KnownTarget id={id} at={at} />;
}

function Present({ id }: { id: number }) {
  const list = useList();
  const live = useLive();
  const target = useTargetView(id);
  if (target) return <Details key={id} target={target} />;
  if (!list.ready && live.error) return <ErrorNote error={live.error} onRetry={live.retry} />;
  if (!list.ready) return <div className="skeleton page-skeleton" />;
  return (
    <div className="empty">
      <StateIcon state="no_data" size={28} />
      <h1>{t("There is no such target")}</h1>
      <p>{t("It may have been deleted.")}</p>
      <div className="actions">
        <Link to="/" className="btn">
          {t("Go to the overview")}
        </Link>
      </div>
    </div>
  );
}

function Details({ target }: { target: TargetView }) {
  const search = useSearch({ from: "/app/targets/$id" });
  const range = search.range ?? "1h";
  const zoom = useMemo(() => zoomOf({ from: search.from, to: search.to }), [search.from, search.to]);
  const navigate = useNavigate({ from: "/targets/$id" });
  const { view, region } = search;
  const show = (next: Range, closely: Zoom | null) =>
    void navigate({
      search: { view, region, ...(next === "1h" ? {} : { range: next }), ...(closely && asked(closely)) },
      // The way back leads out of what was looked at closely.
      replace: closely === null,
      resetScroll: false,
    });
  const look = (next: Pick<TargetSearch, "view" | "region">) =>
    void navigate({ search: (old) => ({ ...old, ...next }), replace: true, resetScroll: false });
  const fleet = useFleet();
  const [editing, setEditing] = useState(false);
  const toggle = useActivity();
  const remove = useRemove();
  const test = useTest();
  const mayEdit = useMayEdit();
  const ids = useMemo(() => [target.id], [target.id]);
  const seenFrom = target.region_states.map((one) => one.region).sort();
  const beats = target.kind === "heartbeat";
  const why = beats ? explainBeat(target) : whyWords(target.why, target.because);
  const word = (inner: ReactNode) => <b className={`word s-${target.state}`}>{inner}</b>;
  useFilled(ids);
  useKeys({
    ...(mayEdit ? { e: () => setEditing(true), ...(beats ? {} : { t: () => void test(target) }) } : {}),
    ...(zoom && !beats ? { Escape: () => show(range, null) } : {}),
  });

  return (
    <div className="page">
      <Link to="/" className="back">
        <ChevronLeft size={16} aria-hidden /> {t("Overview")}
      </Link>
      <div className="target-head">
        <StateIcon state={target.state} size={40} />
        <div className="title">
          <h1>{target.name}</h1>
          <p className="verdict" data-state={target.state}>
            {target.since ? (
              <Rich
                text="<b>{state, select, up {Up} degraded {Degraded} down {Down} no_data {No data} maintenance {Maintenance} other {Paused}}</b> for {time}"
                b={word}
                state={target.state}
                time={<Ago at={target.since} bare />}
              />
            ) : (
              word(stateWords[target.state])
            )}
            {why && <span className="why"> · {why}</span>}
          </p>
        </div>
        <div className="actions">
          {mayEdit && (
            <button type="button" className="btn" onClick={() => void toggle(target)}>
              {target.active ? <Pause size={15} aria-hidden /> : <Play size={15} aria-hidden />}
              {t(target.active ? "Pause" : "Resume")}
            </button>
          )}
          {mayEdit && !beats && (
            <button type="button" className="btn" onClick={() => void test(target)}>
              <Activity size={15} aria-hidden /> {t("Test now")}
            </button>
          )}
          {mayEdit && (
            <button type="button" className="btn" onClick={() => setEditing(true)}>
              <Pencil size={15} aria-hidden /> {t("Edit")}
            </button>
          )}
          <Link to="/targets/$id/rule" params={{ id: String(target.id) }} className="btn">
            <SlidersHorizontal size={15} aria-hidden /> {t("Rule")}
          </Link>
          {mayEdit && (
            <button
              type="button"
              className="btn danger"
              onClick={() => {
                remove(target);
                void navigate({ to: "/", search: {} });
              }}
            >
              <Trash2 size={15} aria-hidden /> {t("Delete")}
            </button>
          )}
        </div>
      </div>
      <Address target={target} />
      <Related target={target} />
      <AskTarget id={target.id} />
      <TermsNote id={target.id} />
      <StoreNotices fleet={fleet.data} />

      <StripCard target={target} />

      <div className="stats uptimes">
        <UptimeCards id={target.id} />
        <div className="card stat">
          <h2>{t(beats ? "Median run time" : "Median response")}</h2>
          <p className="big">{beats && !target.p50_us ? "–" : latency(target.p50_us)}</p>
          <p className="muted">{t(beats ? "of runs that told their start" : "of the newest checks, all regions")}</p>
        </div>
      </div>

      <Sections id={target.id} beats={beats} />
      {beats ? (
        <>
          <HeartbeatCards target={target} />
          <TargetIncidents id={target.id} />
          <YearCard id={target.id} />
          <CheckLog target={target} zoom={null} />
        </>
      ) : (
        <>
          <Performance
            id={target.id}
            intervalS={target.interval_s}
            range={range}
            zoom={zoom}
            onRange={(next) => show(next, null)}
            view={view ?? "phases"}
            onZoom={(next) => show(range, next)}
            onView={(next) => look({ view: next === "percentiles" ? next : undefined })}
          />
          <MatrixCard id={target.id} range={range} zoom={zoom} intervalS={target.interval_s} regions={seenFrom} />
          <HistogramCard
            id={target.id}
            range={range}
            zoom={zoom}
            regions={seenFrom}
            region={region ?? ""}
            onRegion={(next) => look({ region: next || undefined })}
          />
          <YearCard id={target.id} />
          <TargetIncidents id={target.id} />
          <div className="columns-2">
            <CheckLog key={search.from} target={target} zoom={zoom} />
            <RegionCards target={target} />
          </div>
        </>
      )}
      <Suspense fallback={null}>
        <AlertsCard target={target} />
        <RevisionsCard target={target} />
      </Suspense>
      {editing && (
        <Suspense fallback={null}>
          <TargetDialog editId={target.id} onClose={() => setEditing(false)} />
        </Suspense>
      )}
    </div>
  );
}

/** Of a heartbeat it says nothing where it is down: only why. */
function explainBeat(target: TargetView): string {
  if (target.state !== "down") return "";
  const failure = target.region_states.find((region) => region.fresh)?.failure ?? "";
  return failure === "timeout" ? t("No ping came in time") : explain(failure, "");
}

/** Tags, what it depends on, and what depends on it. */
function Related({ target }: { target: TargetView }) {
  const { store } = useLive();
  const { version } = useList();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the store changes with its version
  const children = useMemo(() => store.all().filter((one) => one.parent_id === target.id), [store, version, target.id]);
  const parent = target.parent_id === null ? undefined : store.get(target.parent_id);
  if (target.tags.length === 0 && !parent && children.length === 0) return null;
  return (
    <p className="related muted">
      {target.tags.map((tag) => (
        <Link key={tag} to="/" search={{ tag }} className="tag" title={t("All targets with the tag {tag}", { tag })}>
          {tag}
        </Link>
      ))}
      {parent && (
        <span>
          <Rich
            text={
              parent.state === "down"
                ? "depends on {target}, which is down: nobody is woken for this one meanwhile"
                : "depends on {target}"
            }
            target={
              <Link to="/targets/$id" params={{ id: String(parent.id) }} className="link">
                {parent.name}
              </Link>
            }
          />
        </span>
      )}
      {children.length > 0 && (
        <span>{t("{n, plural, one {# target depends} other {# targets depend}} on it", { n: children.length })}</span>
      )}
    </p>
  );
}

function Address({ target }: { target: TargetView }) {
  const href = safeHref(target.url);
  const beats = target.kind === "heartbeat";
  const spec = useQuery({ queryKey: ["target", target.id], queryFn: () => api.target(target.id), enabled: beats });
  if (beats) {
    return (
      <p className="address muted">
        <span>
          <KindBadge kind={target.kind} />
          <Schedule target={spec.data} />
        </span>
      </p>
    );
  }
  return (
    <p className="address muted">
      {href ? (
        <a className="link" href={href} target="_blank" rel="noreferrer noopener">
          <bdi dir="ltr">{shortUrl(target.url)}</bdi> <ExternalLink size={13} aria-label={t("(opens a new tab)")} />
        </a>
      ) : (
        <span title={target.url}>
          <KindBadge kind={target.kind} />
          <bdi dir="ltr">{shortUrl(target.url)}</bdi>
        </span>
      )}
      <span>
        {t(
          target.regions.length > 0
            ? "checked every {interval}, timeout {timeout}, from {regions}"
            : "checked every {interval}, timeout {timeout}, from every region",
          {
            interval: duration(target.interval_s),
            timeout: duration(target.timeout_ms / 1000),
            regions: listed(target.regions),
          },
        )}
      </span>
    </p>
  );
}
