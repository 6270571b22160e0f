import type { Assertion } from "../api/spec";
import { t } from "../words/t";
import { Code, ltr, Select } from "./controls";
import { Expect } from "./Expect";
import type { Errors } from "./form";
import { questionOf, recordTypes, withQuestion } from "./question";
import type { DnsDraft } from "./terms";

const servers = ["9.9.9.9", "[2620:fe::fe]:53"].map(ltr).join(", ");

/** What is asked, of whom and how. The type and the server stand in the address: here they are fields of it. */
export function DnsFields({
  url,
  draft,
  errors,
  onUrl,
  onChange,
  onExpect,
}: {
  url: string;
  draft: DnsDraft;
  errors: Errors;
  onUrl: (url: string) => void;
  onChange: (change: Partial<DnsDraft>) => void;
  onExpect: (of: Assertion) => void;
}) {
  const asked = questionOf(url);
  return (
    <>
      {asked && (
        <>
          <Select
            label={t("Record type")}
            error={undefined}
            value={asked.type}
            options={[...new Set([...recordTypes, asked.type])].map((type) => [type, type])}
            onChange={(type) => onUrl(withQuestion(url, { type }))}
          />
          <Code
            label={t("Server that is asked")}
            error={undefined}
            hint={t("Such as {examples}. Empty: the resolvers of the prober.", { examples: servers })}
            value={asked.server}
            onChange={(server) => onUrl(withQuestion(url, { server }))}
          />
        </>
      )}
      <Select
        label={t("Transport")}
        error={errors["/dns/transport"]}
        value={draft.transport}
        options={[
          ["", t("UDP, and TCP where the answer was cut")],
          ["tcp", "TCP"],
          ["tls", "TLS (DoT)"],
          ["https", "HTTPS (DoH)"],
        ]}
        onChange={(transport) => onChange({ transport })}
      />
      <Expect onClick={() => onExpect({ source: "dns", name: asked?.type ?? "A", op: "equals" })} />
    </>
  );
}
