import { Ago, Clock } from "../ui/time";
import { bytes, explain, latency, tellingStatus } from "../ui/words";
import { Rich } from "../words/Rich";
import { t } from "../words/t";
import { Evidence } from "./Evidence";
import type { LogLine } from "./log";
import { Waterfall } from "./Waterfall";
import { plain } from "./words";

/** What is known of one check. */
export function CheckDetail({ line, kind }: { line: LogLine; kind: string }) {
  const result = line.full;
  if (!result)
    return <p className="detail unstored muted">{t("The details are being stored and appear here in a moment.")}</p>;
  const why = explain(result.failure, result.reason, tellingStatus(kind, result.http_status));
  return (
    <div className="detail">
      {(why || result.message) && (
        <p className="evidence">
          {why && <b>{t("{why}.", { why })} </b>}
          {result.message}
        </p>
      )}
      {result.total_us > 0 && kind !== "heartbeat" && (
        <Waterfall label={t("Phases")} times={result} totalUs={result.total_us} cached={result.dns_cached} />
      )}
      {result.saturated && <p className="muted">{t("The prober was busy: the times may be too long.")}</p>}
      <dl className="facts">
        <Fact name={t(kind !== "heartbeat" ? "Scheduled" : result.failure === "timeout" ? "Expected" : "Pinged")}>
          <Clock at={result.scheduled_at} dated />
        </Fact>
        {kind === "heartbeat" && result.total_us > 0 && <Fact name={t("Run time")}>{latency(result.total_us)}</Fact>}
        {result.checked_at && kind !== "heartbeat" && (
          <Fact name={t("Started")}>
            <Start scheduled={result.scheduled_at} checked={result.checked_at} />
          </Fact>
        )}
        {result.http_status > 0 && <Fact name={t("Status code")}>{result.http_status}</Fact>}
        {result.protocol && <Fact name={t("Protocol")}>{result.protocol}</Fact>}
        {result.tls_version && <Fact name="TLS">{result.tls_version}</Fact>}
        {result.hops > 1 && <Fact name={t(kind === "http" ? "Requests" : "Connections")}>{result.hops}</Fact>}
        {result.body_bytes > 0 && (
          <Fact name={t("Body")}>
            {result.wire_bytes === result.body_bytes
              ? bytes(result.body_bytes)
              : t("{size}, {sent} on the wire", { size: bytes(result.body_bytes), sent: bytes(result.wire_bytes) })}
          </Fact>
        )}
        {result.address && <Fact name={t("Address")}>{result.address}</Fact>}
        {result.cert_not_after && (
          <Fact name={t("Certificate until")}>
            <Clock at={result.cert_not_after} dated />
          </Fact>
        )}
        {result.prober && kind !== "heartbeat" && (
          <Fact name={t("Prober")}>
            {result.attempt > 1
              ? t("{prober}, delivery {n}", { prober: result.prober, n: result.attempt })
              : result.prober}
          </Fact>
        )}
        <Fact name={t("Age")}>
          <Ago at={result.scheduled_at} />
        </Fact>
      </dl>
      <Evidence result={result} kind={kind} />
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

function Start({ scheduled, checked }: { scheduled: string; checked: string }) {
  const late = Date.parse(checked) - Date.parse(scheduled);
  return (
    <Rich
      text={late <= 0 ? "{time}, on time" : "{time}, {late} ms after its slot"}
      time={<Clock at={checked} dated />}
      late={plain(late)}
    />
  );
}
