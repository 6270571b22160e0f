import { t } from "../words/t";
import { Select } from "./controls";
import { DnsFields } from "./DnsFields";
import { GrpcFields } from "./GrpcFields";
import type { KindProps } from "./KindFold";
import { RequestFields } from "./RequestFields";
import { TcpFields } from "./TcpFields";
import { TlsFields } from "./TlsFields";
import { type Part, type Terms, termsOf } from "./terms";
import { WebSocketFields } from "./WebSocketFields";

/** The settings of one kind, and those that every visit has. */
export default function KindFields(props: KindProps) {
  const { of, own, tls, url, terms, errors, onTerms, onUrl, onExpect } = props;
  const set =
    <P extends Part>(part: P) =>
    (change: Partial<Terms[P]>) =>
      onTerms((old) => ({ ...old, [part]: { ...old[part], ...change } }));
  /** A part that does not go with the address can only be given up. */
  const refused = (part: Part) =>
    errors[`/${part}`] && (
      <div className="banner bad" role="alert" tabIndex={-1}>
        <p>{errors[`/${part}`]}</p>
        <button type="button" className="btn" onClick={() => set(part)(termsOf(null)[part])}>
          {t("Back to the default")}
        </button>
      </div>
    );
  return (
    <>
      {of !== "icmp" && of !== "grpc" && of !== "tls" && refused(of)}
      {of === "http" && <RequestFields draft={terms.http} errors={errors} onChange={set("http")} />}
      {of === "tcp" && <TcpFields draft={terms.tcp} errors={errors} onChange={set("tcp")} onExpect={onExpect} />}
      {of === "dns" && (
        <DnsFields
          url={url}
          draft={terms.dns}
          errors={errors}
          onUrl={onUrl}
          onChange={set("dns")}
          onExpect={onExpect}
        />
      )}
      {of === "websocket" && (
        <WebSocketFields draft={terms.websocket} errors={errors} onChange={set("websocket")} onExpect={onExpect} />
      )}
      {of === "grpc" && <GrpcFields url={url} onUrl={onUrl} />}
      {own && refused("tls")}
      {own && tls && <TlsFields draft={terms.tls} errors={errors} onChange={set("tls")} />}
      {own && (
        <Select
          label={t("Addresses")}
          error={errors["/family"]}
          value={terms.family}
          options={[
            ["", "IPv4, IPv6"],
            ["4", "IPv4"],
            ["6", "IPv6"],
          ]}
          onChange={(family) => onTerms((old) => ({ ...old, family }))}
        />
      )}
    </>
  );
}
