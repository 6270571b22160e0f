import type { Result } from "../api/types";
import { Ago, Clock } from "../ui/time";
import { bytes, explain, latency, tellingStatus } from "../ui/words";
import type { LogLine } from "./log";
import { phases } from "./phases";

/** The evidence of one check. */
export function CheckDetail({ line, kind }: { line: LogLine; kind: string }) {
  const result = line.full;
  if (!result) return <p className="detail muted">The details are being stored and appear here in a moment.</p>;
  const why = explain(result.failure, result.reason, tellingStatus(kind, result.http_status));
  return (
    <div className="detail">
      {(why || result.message) && (
        <p className="evidence">
          {why && <b>{why}. </b>}
          {result.message}
        </p>
      )}
      {result.total_us > 0 && kind !== "heartbeat" && <Waterfall result={result} />}
      {result.saturated && <p className="muted">The prober was busy: the times may be too long.</p>}
      <dl className="facts">
        <Fact name={kind !== "heartbeat" ? "Scheduled" : result.failure === "timeout" ? "Expected" : "Pinged"}>
          <Clock at={result.scheduled_at} dated />
        </Fact>
        {kind === "heartbeat" && result.total_us > 0 && <Fact name="Run time">{latency(result.total_us)}</Fact>}
        {result.checked_at && kind !== "heartbeat" && (
          <Fact name="Started">
            <Clock at={result.checked_at} dated />, {lateness(result)}
          </Fact>
        )}
        {result.http_status > 0 && <Fact name="Status code">{result.http_status}</Fact>}
        {result.protocol && <Fact name="Protocol">{result.protocol}</Fact>}
        {result.tls_version && <Fact name="TLS">{result.tls_version}</Fact>}
        {result.hops > 1 && <Fact name={kind === "http" ? "Requests" : "Connections"}>{result.hops}</Fact>}
        {result.body_bytes > 0 && (
          <Fact name="Body">
            {bytes(result.body_bytes)}
            {result.wire_bytes !== result.body_bytes && `, ${bytes(result.wire_bytes)} on the wire`}
          </Fact>
        )}
        {result.address && <Fact name="Address">{result.address}</Fact>}
        {result.cert_not_after && (
          <Fact name="Certificate until">
            <Clock at={result.cert_not_after} dated />
          </Fact>
        )}
        {result.prober && kind !== "heartbeat" && (
          <Fact name="Prober">
            {result.prober}
            {result.attempt > 1 && `, delivery ${result.attempt}`}
          </Fact>
        )}
        <Fact name="Age">
          <Ago at={result.scheduled_at} />
        </Fact>
      </dl>
    </div>
  );
}

function Fact({ name, children }: { name: string; children: React.ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function lateness(result: Result): string {
  const late = Date.parse(result.checked_at ?? result.scheduled_at) - Date.parse(result.scheduled_at);
  return late <= 0 ? "on time" : `${late} ms after its slot`;
}

/** The phases one after the other, as they happened. */
function Waterfall({ result }: { result: Result }) {
  const sum = phases.reduce((total, { key }) => total + result[`${key}_us`], 0);
  const whole = Math.max(sum, result.total_us, 1);
  let before = 0;
  return (
    <ol className="waterfall" aria-label="Phases">
      {phases.map(({ key, label }) => {
        const us = result[`${key}_us`];
        const left = before;
        before += us;
        return (
          <li key={key} data-skipped={us === 0 || undefined}>
            <span className="wf-name">{label}</span>
            <span className="wf-track">
              <span
                className={`wf-bar p-${key}`}
                style={{ marginInlineStart: `${(left / whole) * 100}%`, width: `${(us / whole) * 100}%` }}
              />
            </span>
            <span className="wf-time">
              {us > 0 ? latency(us) : key === "dns" && result.dns_cached ? "cached" : "–"}
            </span>
          </li>
        );
      })}
      <li className="wf-total">
        <span className="wf-name">Total</span>
        <span className="wf-track" />
        <span className="wf-time">{latency(result.total_us)}</span>
      </li>
    </ol>
  );
}
