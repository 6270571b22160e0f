import { useQuery, useQueryClient } from "@tanstack/react-query";
import { RefreshCw } from "lucide-react";
import { useEffect, useState } from "react";
import { ApiError } from "../api/client";
import { api } from "../api/endpoints";
import type { Heartbeat, Target } from "../api/types";
import { useToast } from "../app/toasts";
import type { TargetView } from "../live/store";
import { Confirm } from "../ui/Confirm";
import { CopyText } from "../ui/CopyText";
import { ErrorNote } from "../ui/ErrorNote";
import { StateIcon } from "../ui/StateIcon";
import { Ago, Clock, useNow } from "../ui/time";
import { count, duration } from "../ui/words";
import "../styles/heartbeat.css";

const signalWords: Record<Heartbeat["last_signal"], string> = {
  "": "None yet",
  success: "Success",
  start: "Started",
  fail: "Failed",
  log: "Log",
};

/** Where a heartbeat stands; kept current by its pings, and by the clock. */
export function useHeartbeat(target: TargetView) {
  const queries = useQueryClient();
  const beat = useQuery({
    queryKey: ["heartbeat", target.id],
    queryFn: () => api.heartbeat(target.id),
    enabled: target.kind === "heartbeat",
    refetchInterval: 5_000,
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
  if (beat.error instanceof ApiError && beat.error.status === 403) {
    return (
      <section className="card pad" aria-labelledby="pinging">
        <h2 id="pinging">Pinging it</h2>
        <p className="muted">Whoever knows the addresses can ping. Only editors and owners see them.</p>
      </section>
    );
  }
  if (beat.error && !beat.data) return <ErrorNote error={beat.error} onRetry={() => void beat.refetch()} />;
  if (!beat.data) return <div className="card skeleton chart-skeleton" />;
  return (
    <>
      <Standing beat={beat.data} />
      <Addresses beat={beat.data} name={target.name} />
    </>
  );
}

/** The schedule in one line. */
export function Schedule({ target }: { target: Target | undefined }) {
  const part = target?.heartbeat;
  if (!part) return null;
  const grace = `, ${duration(part.grace_s)} of grace`;
  if (part.period_s) {
    return (
      <>
        expects a ping every {duration(part.period_s)}
        {grace}
      </>
    );
  }
  return (
    <>
      expects a ping at <code>{part.cron}</code> ({(part.zone ?? "UTC").replaceAll("_", " ")}){grace}
    </>
  );
}

function Standing({ beat }: { beat: Heartbeat }) {
  const now = useNow();
  const expected = beat.expected_at ? Date.parse(beat.expected_at) : null;
  const deadline = beat.deadline_at ? Date.parse(beat.deadline_at) : null;
  const late = expected !== null && now > expected;
  return (
    <section className="card" aria-labelledby="expected">
      <div className="card-head">
        <h2 id="expected">Expected next</h2>
        <span className="muted push">{count(beat.pings)} pings so far</span>
      </div>
      <dl className="standing">
        <div>
          <dt>Next ping</dt>
          {beat.paused || expected === null ? (
            <dd>
              <b>None</b>
              <span className="muted">Nothing is expected while it is paused.</span>
            </dd>
          ) : (
            <dd>
              <b className={late ? "s-degraded-ink" : undefined}>
                {late ? `${duration((now - expected) / 1000)} late` : `in ${duration((expected - now) / 1000)}`}
              </b>
              <span className="muted">
                <Clock at={expected} dated />
              </span>
            </dd>
          )}
        </div>
        <div>
          <dt>Down without it</dt>
          <dd>
            {deadline === null ? (
              <b>–</b>
            ) : (
              <>
                <b>{deadline > now ? `in ${duration((deadline - now) / 1000)}` : "now"}</b>
                <span className="muted">
                  <Clock at={deadline} dated />
                </span>
              </>
            )}
          </dd>
        </div>
        <div>
          <dt>Last ping</dt>
          <dd>
            <b className="row">
              {beat.last_signal === "fail" && <StateIcon state="down" size={15} />}
              {signalWords[beat.last_signal]}
              {beat.last_signal === "fail" && beat.exit_code > 0 && `, exit code ${beat.exit_code}`}
            </b>
            <span className="muted">
              {beat.last_ping_at ? <Ago at={beat.last_ping_at} /> : "Nothing has pinged yet."}
            </span>
          </dd>
        </div>
        <div>
          <dt>Running</dt>
          <dd>
            <b>{beat.started_at ? <Ago at={beat.started_at} bare /> : "No"}</b>
            <span className="muted">
              {beat.started_at ? "started, its end was not told yet" : "no start without an end"}
            </span>
          </dd>
        </div>
      </dl>
      {beat.excerpt && (
        <details className="excerpt">
          <summary>What came along with the last ping</summary>
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
  const addresses: [string, string, string][] = [
    ["Success", url, "The job is done."],
    ["Start", `${url}/start`, "It begins: how long it runs is measured."],
    ["Fail", `${url}/fail`, "It failed; or end in its exit code instead."],
    ["Log", `${url}/log`, "A note that changes nothing."],
  ];
  return (
    <section className="card" aria-labelledby="addresses">
      <div className="card-head">
        <h2 id="addresses">Ping addresses</h2>
        <button type="button" className="btn push" onClick={() => setAsking(true)}>
          <RefreshCw size={15} aria-hidden /> New address
        </button>
      </div>
      <dl className="addresses">
        {addresses.map(([label, address, what]) => (
          <div key={label}>
            <dt>
              <b>{label}</b>
              <span className="muted">{what}</span>
            </dt>
            <dd>
              <CopyText label={`${label.toLowerCase()} address`} text={address} />
            </dd>
          </div>
        ))}
        <div>
          <dt>
            <b>In a crontab</b>
            <span className="muted">Tells the start, and the exit code as the end.</span>
          </dt>
          <dd>
            <CopyText
              label="example line"
              text={`curl -fsS -m 10 --retry 5 -o /dev/null ${url}/start; your-job; curl -fsS -m 10 --retry 5 -o /dev/null ${url}/$?`}
            />
          </dd>
        </div>
      </dl>
      <p className="pad muted note">
        GET, HEAD and POST all count; the first 10 KiB of a body are kept. Whoever knows an address can ping, so keep it
        like a password.
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
      toast({ text: `${name} has a new address. The one before does not work any more.` });
    } catch (error) {
      toast({ bad: true, text: `The address stays as it was: ${(error as Error).message}` });
    }
  };
  return (
    <Confirm title="Make a new address?" act="Make a new address" onAct={rotate} onClose={onClose}>
      The addresses of {name} stop working at once. Until the job pings the new one, its pings are answered 404, and it
      will be down when its grace is over.
    </Confirm>
  );
}
