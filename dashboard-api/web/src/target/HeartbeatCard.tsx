import { useQuery, useQueryClient } from "@tanstack/react-query";
import { RefreshCw } from "lucide-react";
import { useEffect, useState } from "react";
import { ApiError } from "../api/client";
import { api } from "../api/endpoints";
import type { Heartbeat, Target } from "../api/types";
import { useToast } from "../app/toasts";
import type { TargetView } from "../live/store";
import { AsOfNote, useAsOf } from "../ui/AsOf";
import { Confirm } from "../ui/Confirm";
import { CopyText } from "../ui/CopyText";
import { ErrorNote } from "../ui/ErrorNote";
import { StateIcon } from "../ui/StateIcon";
import { Ago, Clock, useNow } from "../ui/time";
import { duration } from "../ui/words";
import { Rich } from "../words/Rich";
import { t } from "../words/t";
import "../styles/heartbeat.css";

const EVERY_MS = 5_000;

const signalWords: Record<Heartbeat["last_signal"], string> = {
  "": t("None yet"),
  success: t("Success"),
  start: t("Started"),
  fail: t("Failed"),
  log: t("Log"),
};

/** Where a heartbeat stands; kept current by its pings, and by the clock. */
export function useHeartbeat(target: TargetView) {
  const queries = useQueryClient();
  const beat = useQuery({
    queryKey: ["heartbeat", target.id],
    queryFn: () => api.heartbeat(target.id),
    enabled: target.kind === "heartbeat",
    refetchInterval: EVERY_MS,
    refetchOnWindowFocus: true,
    retry: (failures, error) => !(error instanceof ApiError && error.status < 500) && failures < 2,
  });
  const seen = `${target.last_result_at} ${target.state}`;
  // biome-ignore lint/correctness/useExhaustiveDependencies: each result moves what is expected
  useEffect(() => {
    if (target.kind === "heartbeat") void queries.invalidateQueries({ queryKey: ["heartbeat", target.id] });
  }, [seen, target.id, target.kind, queries]);
  return beat;
}

/** What is expected next, what came last, and the addresses that the job pings. */
export function HeartbeatCards({ target }: { target: TargetView }) {
  const beat = useHeartbeat(target);
  const asOf = useAsOf(beat, EVERY_MS);
  if (beat.error instanceof ApiError && beat.error.status === 403) {
    return (
      <section className="card pad" aria-labelledby="pinging">
        <h2 id="pinging">{t("Pinging it")}</h2>
        <p className="muted">{t("Whoever knows the addresses can ping. Only editors and owners see them.")}</p>
      </section>
    );
  }
  if (beat.error && !beat.data) return <ErrorNote error={beat.error} onRetry={() => void beat.refetch()} />;
  if (!beat.data) return <div className="card skeleton chart-skeleton holds" />;
  return (
    <>
      <Standing beat={beat.data} asOf={asOf} />
      <Addresses beat={beat.data} name={target.name} />
    </>
  );
}

/** The schedule in one line. */
export function Schedule({ target }: { target: Target | undefined }) {
  const part = target?.heartbeat;
  if (!part) return null;
  const grace = duration(part.grace_s);
  if (part.period_s) {
    return <>{t("expects a ping every {period}, {grace} of grace", { period: duration(part.period_s), grace })}</>;
  }
  return (
    <Rich
      text="expects a ping at {cron} ({zone}), {grace} of grace"
      cron={<code>{part.cron}</code>}
      zone={(part.zone ?? "UTC").replaceAll("_", " ")}
      grace={grace}
    />
  );
}

function Standing({ beat, asOf }: { beat: Heartbeat; asOf: number | null }) {
  const now = useNow();
  const expected = beat.expected_at ? Date.parse(beat.expected_at) : null;
  const deadline = beat.deadline_at ? Date.parse(beat.deadline_at) : null;
  const late = expected !== null && now > expected;
  return (
    <section className="card" aria-labelledby="expected">
      <div className="card-head">
        <h2 id="expected">{t("Expected next")}</h2>
        <AsOfNote at={asOf} />
        <span className="muted push">{t("{n, plural, one {# ping} other {# pings}} so far", { n: beat.pings })}</span>
      </div>
      <dl className="standing">
        <div>
          <dt>{t("Next ping")}</dt>
          {beat.paused || expected === null ? (
            <dd>
              <b>{t("None")}</b>
              <span className="muted">{t("Nothing is expected while it is paused.")}</span>
            </dd>
          ) : (
            <dd>
              <b className={late ? "s-degraded-ink" : undefined}>
                {t(late ? "{time} late" : "in {time}", { time: duration(Math.abs(now - expected) / 1000) })}
              </b>
              <span className="muted">
                <Clock at={expected} dated />
              </span>
            </dd>
          )}
        </div>
        <div>
          <dt>{t("Down without it")}</dt>
          <dd>
            {deadline === null ? (
              <b>–</b>
            ) : (
              <>
                <b>{deadline > now ? t("in {time}", { time: duration((deadline - now) / 1000) }) : t("now")}</b>
                <span className="muted">
                  <Clock at={deadline} dated />
                </span>
              </>
            )}
          </dd>
        </div>
        <div>
          <dt>{t("Last ping")}</dt>
          <dd>
            <b className="row">
              {beat.last_signal === "fail" && <StateIcon state="down" size={15} />}
              {beat.last_signal === "fail" && beat.exit_code > 0
                ? t("Failed, exit code {code}", { code: String(beat.exit_code) })
                : signalWords[beat.last_signal]}
            </b>
            <span className="muted">
              {beat.last_ping_at ? <Ago at={beat.last_ping_at} /> : t("Nothing has pinged yet.")}
            </span>
          </dd>
        </div>
        <div>
          <dt>{t("Running")}</dt>
          <dd>
            <b>{beat.started_at ? <Ago at={beat.started_at} bare /> : t("No")}</b>
            <span className="muted">
              {t(beat.started_at ? "started, its end was not told yet" : "no start without an end")}
            </span>
          </dd>
        </div>
      </dl>
      {beat.excerpt && (
        <details className="excerpt">
          <summary>{t("What came along with the last ping")}</summary>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a text that scrolls must be reachable by keyboard */}
          <pre tabIndex={0}>{beat.excerpt}</pre>
        </details>
      )}
    </section>
  );
}

function Addresses({ beat, name }: { beat: Heartbeat; name: string }) {
  const [asking, setAsking] = useState(false);
  const url = `${window.location.origin}${beat.path}`;
  const addresses = [
    { word: t("Success"), what: t("The job is done."), label: t("success address"), address: url },
    {
      word: t("Start"),
      what: t("It begins: how long it runs is measured."),
      label: t("start address"),
      address: `${url}/start`,
    },
    {
      word: t("Fail"),
      what: t("It failed; or end in its exit code instead."),
      label: t("fail address"),
      address: `${url}/fail`,
    },
    { word: t("Log"), what: t("A note that changes nothing."), label: t("log address"), address: `${url}/log` },
  ];
  return (
    <section className="card" aria-labelledby="addresses">
      <div className="card-head">
        <h2 id="addresses">{t("Ping addresses")}</h2>
        <button type="button" className="btn push" onClick={() => setAsking(true)}>
          <RefreshCw size={15} aria-hidden /> {t("New address")}
        </button>
      </div>
      <dl className="addresses">
        {addresses.map(({ word, what, label, address }) => (
          <div key={address}>
            <dt>
              <b>{word}</b>
              <span className="muted">{what}</span>
            </dt>
            <dd>
              <CopyText label={label} text={address} />
            </dd>
          </div>
        ))}
        <div>
          <dt>
            <b>{t("In a crontab")}</b>
            <span className="muted">{t("Tells the start, and the exit code as the end.")}</span>
          </dt>
          <dd>
            <CopyText
              label={t("example line")}
              text={`curl -fsS -m 10 --retry 5 -o /dev/null ${url}/start; your-job; curl -fsS -m 10 --retry 5 -o /dev/null ${url}/$?`}
            />
          </dd>
        </div>
      </dl>
      <p className="pad muted note">
        {t(
          "GET, HEAD and POST all count; the first 10 KiB of a body are kept. Whoever knows an address can ping, so keep it like a password.",
        )}
      </p>
      {asking && <Rotate id={beat.target_id} name={name} onClose={() => setAsking(false)} />}
    </section>
  );
}

function Rotate({ id, name, onClose }: { id: number; name: string; onClose: () => void }) {
  const queries = useQueryClient();
  const toast = useToast();
  const rotate = async () => {
    try {
      queries.setQueryData(["heartbeat", id], await api.rotateHeartbeat(id));
      toast({ text: t("{name} has a new address. The one before does not work any more.", { name }) });
    } catch (error) {
      toast({ bad: true, text: t("The address stays as it was: {problem}", { problem: (error as Error).message }) });
    }
  };
  return (
    <Confirm title={t("Make a new address?")} act={t("Make a new address")} onAct={rotate} onClose={onClose}>
      {t(
        "The addresses of {name} stop working at once. Until the job pings the new one, its pings are answered 404, and it will be down when its grace is over.",
        { name },
      )}
    </Confirm>
  );
}
