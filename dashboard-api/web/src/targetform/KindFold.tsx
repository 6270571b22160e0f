import { lazy } from "react";
import type { Assertion } from "../api/spec";
import { Unverified } from "../ui/Unverified";
import { t } from "../words/t";
import { Fold } from "./Fold";
import type { Errors } from "./form";
import { type FoldKind, isPlain, type Terms } from "./terms";

const KindFields = lazy(() => import("./KindFields"));

export interface KindProps {
  of: FoldKind;
  /** It is the kind of the address: what every visit has is shown with it. */
  own: boolean;
  /** Whether settings of TLS are. */
  tls: boolean;
  url: string;
  terms: Terms;
  errors: Errors;
  onTerms: (change: (old: Terms) => Terms) => void;
  onUrl: (url: string) => void;
  /** Something is to be said of the answer. */
  onExpect: (of: Assertion) => void;
}

const titles: Record<FoldKind, string> = {
  http: t("Request: method, headers, body, sign-in, TLS"),
  tcp: t("TCP: what is sent, STARTTLS"),
  tls: t("TLS: server name, verification"),
  dns: t("DNS: record type, server, transport"),
  icmp: t("Ping: IPv4 or IPv6"),
  grpc: t("gRPC: service, TLS"),
  websocket: t("WebSocket: message, headers, subprotocols, TLS"),
};

/** How targets of a kind are visited: folded while it is as it is by default. */
export function KindFold(props: KindProps) {
  const { of, own, tls, terms, errors } = props;
  const secured = own && tls;
  const sections = [of, ...(own ? ["tls", "family"] : [])];
  return (
    <Fold
      title={titles[of]}
      begins={!isPlain(terms, of, { tls: secured, family: own })}
      wrong={Object.keys(errors).some((at) => sections.some((one) => at === `/${one}` || at.startsWith(`/${one}/`)))}
      folded={secured && terms.tls.skipVerify && <Unverified />}
    >
      <KindFields {...props} />
    </Fold>
  );
}
