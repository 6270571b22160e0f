import { useQuery } from "@tanstack/react-query";
import type { Evidence as Seen } from "../api/checks";
import { api } from "../api/endpoints";
import type { Result } from "../api/types";
import { CopyText } from "../ui/CopyText";
import { ErrorNote } from "../ui/ErrorNote";
import { Clock } from "../ui/time";
import { listed } from "../ui/words";
import { Rich } from "../words/Rich";
import { t } from "../words/t";
import { answerOf, keepsEvidence, validity } from "./seen";
import { spansOf, Waterfall } from "./Waterfall";
import "../styles/evidence.css";

/** What the visit saw: kept of checks that were not up, without secrets. */
export function Evidence({ result, kind }: { result: Result; kind: string }) {
  const keeps = keepsEvidence(kind, result.status);
  const { target_id, region, scheduled_at } = result;
  const found = useQuery({
    queryKey: ["evidence", target_id, region, scheduled_at],
    queryFn: () => api.evidence(target_id, region, scheduled_at),
    enabled: keeps,
    staleTime: Number.POSITIVE_INFINITY, // what was seen stays as it was
  });
  if (kind === "heartbeat") return null;
  if (!keeps) {
    return (
      <p className="muted">
        {t(
          result.status === "up"
            ? "What the visit saw is kept only of checks that were not up."
            : "Nobody measured, so there is nothing that a visit saw.",
        )}
      </p>
    );
  }
  if (found.error) return <ErrorNote error={found.error} onRetry={() => void found.refetch()} />;
  if (!found.data) return <div className="skeleton evidence-skeleton" />;
  if (!found.data.evidence)
    return <p className="muted">{t("Nothing is stored of what the visit saw: who checked did not send it.")}</p>;
  return <What seen={found.data.evidence} at={result.checked_at ?? scheduled_at} kind={kind} />;
}

function What({ seen, at, kind }: { seen: Seen; at: string; kind: string }) {
  const hops = seen.hops ?? [];
  const failed = seen.failed ?? [];
  const records = seen.records ?? [];
  const certificates = seen.certificates ?? [];
  const cookies = seen.cookies ?? [];
  const answer = answerOf(seen);
  const spans = spansOf(hops);
  return (
    <div className="seen">
      {failed.length > 0 && (
        <Part name={t("Failed assertions")}>
          <ul className="seen-list">
            {failed.map((one) => (
              <li key={one.index}>
                <b>
                  {t("{severity, select, degrade {Assertion {n}, degraded} other {Assertion {n}, down}}", {
                    n: one.index + 1,
                    severity: one.severity,
                  })}
                </b>{" "}
                {one.message}
              </li>
            ))}
          </ul>
        </Part>
      )}
      {hops.length > 0 && (
        <Part name={t(kind === "http" ? "Requests" : "Connections")}>
          <ol className="seen-list">
            {hops.map((hop, i) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the hops of a visit that is over
              <li key={i} className="hop">
                <p>
                  {hops.length > 1 && <b>{i + 1}. </b>}
                  <bdi dir="ltr">{hop.url}</bdi>{" "}
                  <span className="muted">
                    {listed(
                      [hop.status ? String(hop.status) : "", hop.protocol ?? "", hop.address ?? ""].filter(Boolean),
                    )}
                  </span>
                </p>
                {hops.length > 1 && (
                  <Waterfall
                    label={t("Phases of hop {n}", { n: i + 1 })}
                    times={hop.phases}
                    totalUs={(spans.before[i + 1] ?? spans.whole) - (spans.before[i] ?? 0)}
                    cached={hop.dns_cached ?? false}
                    beforeUs={spans.before[i] ?? 0}
                    wholeUs={spans.whole}
                  />
                )}
              </li>
            ))}
          </ol>
        </Part>
      )}
      {answer && (
        <Part name={t("Answer")}>
          <Excerpt label={t("Status line and headers")}>{answer}</Excerpt>
          {cookies.length > 0 && (
            <p className="muted">{t("Cookies it set, without their values: {names}", { names: listed(cookies) })}</p>
          )}
        </Part>
      )}
      {seen.body && (
        <Part name={t("Body")}>
          <Excerpt label={t("Body")}>{seen.body}</Excerpt>
          {seen.body_cut && <p className="muted">{t("The rest is not kept.")}</p>}
        </Part>
      )}
      {seen.received && (
        <Part name={t("Received")}>
          <Excerpt label={t("Received")}>{seen.received}</Excerpt>
          {seen.received_cut && <p className="muted">{t("The rest is not kept.")}</p>}
        </Part>
      )}
      {(records.length > 0 || seen.rcode) && (
        <Part name={t("DNS answer")}>
          <Excerpt label={t("DNS answer")}>
            {[seen.rcode ?? "", ...records.map((one) => `${one.ttl} ${one.type} ${one.data}`)]
              .filter(Boolean)
              .join("\n")}
          </Excerpt>
        </Part>
      )}
      {certificates.length > 0 && (
        <Part name={t("Certificates")}>
          <p className="muted">
            {listed([seen.tls_version ? `TLS ${seen.tls_version}` : "", seen.tls_cipher ?? ""].filter(Boolean))}
          </p>
          <ol className="seen-list">
            {certificates.map((one) => (
              <Certificate key={one.sha256} of={one} at={at} />
            ))}
          </ol>
        </Part>
      )}
      {seen.command && (
        <Part name={t("To try it yourself")}>
          <CopyText label={t("the command")} text={seen.command} />
        </Part>
      )}
    </div>
  );
}

function Part({ name, children }: { name: string; children: React.ReactNode }) {
  return (
    <div className="seen-part">
      <h3>{name}</h3>
      {children}
    </div>
  );
}

/** Somebody else's words, as text. */
function Excerpt({ label, children }: { label: string; children: string }) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: what scrolls by keyboard, not a form, and no landmark: several checks may be open
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <div className="excerpt" role="group" tabIndex={0} aria-label={label}>
      <pre dir="ltr">{children}</pre>
    </div>
  );
}

function Certificate({ of, at }: { of: NonNullable<Seen["certificates"]>[number]; at: string }) {
  const state = validity(of, at);
  return (
    <li>
      <b>
        <bdi dir="ltr">{of.subject}</bdi>
      </b>
      <p>
        <Rich
          text={
            state === "over"
              ? "Valid from {from} until {to}: it had expired."
              : state === "early"
                ? "Valid from {from} until {to}: not yet."
                : "Valid from {from} until {to}."
          }
          from={<Clock at={of.not_before} dated />}
          to={<Clock at={of.not_after} dated />}
        />
      </p>
      <p className="muted">
        {t("Issued by {issuer}", { issuer: of.issuer })}
        {of.names && of.names.length > 0 && <> · {t("for {names}", { names: listed(of.names) })}</>}
      </p>
      <p className="muted">
        {"SHA-256"} <bdi dir="ltr">{of.sha256}</bdi>
      </p>
    </li>
  );
}
