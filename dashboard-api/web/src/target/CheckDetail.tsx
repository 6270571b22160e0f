import type { Result } from "../api/types";
import { Ago, Clock } from "../ui/time";
import { explain, latency } from "../ui/words";
import type { LogLine } from "./log";
import { phases } from "./phases";

/** The evidence of one check. */
export function CheckDetail({ line }: { line: LogLine }) {
  const result = line.full;
  if (!result) return <p className="detail muted">The details are being stored and appear here in a moment.</p>;
  const why = explain(result.failure, result.reason, result.http_status);
  return (
    <div className="detail">
      {(why || result.message) && (
        <p className="evidence">
          {why && <b>{why}. </b>}
          {result.message}
        </p>
      )}
      {result.total_us > 0 && <Waterfall result={result} />}
      <dl className="facts">
        <Fact name="Scheduled">
          <Clock at={result.scheduled_at} dated />
        </Fact>
        {result.checked_at && (
          <Fact name="Started">
            <Clock at={result.checked_at} dated />, {lateness(result)}
          </Fact>
        )}
        {result.http_status > 0 && <Fact name="Status code">{result.http_status}</Fact>}
        {result.address && <Fact name="Address">{result.address}</Fact>}
        {result.cert_not_after && (
          <Fact name="Certificate until">
            <Clock at={result.cert_not_after} dated />
          </Fact>
        )}
        {result.prober && (
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
                style={{ marginLeft: `${(left / whole) * 100}%`, width: `${(us / whole) * 100}%` }}
              />
            </span>
            <span className="wf-time">{us === 0 ? "–" : latency(us)}</span>
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
