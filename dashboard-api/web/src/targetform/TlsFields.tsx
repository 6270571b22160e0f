import { Unverified } from "../ui/Unverified";
import { t } from "../words/t";
import { Code, Tick } from "./controls";
import type { Errors } from "./form";
import type { TlsDraft } from "./terms";

const EXAMPLE = "www.example.com";

/** What the handshake offers and demands. */
export function TlsFields({
  draft,
  errors,
  onChange,
}: {
  draft: TlsDraft;
  errors: Errors;
  onChange: (change: Partial<TlsDraft>) => void;
}) {
  return (
    <>
      <Code
        label={t("Server name (SNI)")}
        error={errors["/tls/server_name"]}
        hint={t("Asked for and verified instead of the host. Empty: the host.")}
        placeholder={EXAMPLE}
        value={draft.serverName}
        onChange={(serverName) => onChange({ serverName })}
      />
      <div className="chips">
        <Tick
          label={t("Do not verify the certificate")}
          on={draft.skipVerify}
          onChange={(skipVerify) => onChange({ skipVerify })}
        />
        <Tick
          label={t("Offer post-quantum keys (X25519MLKEM768)")}
          on={draft.postQuantum}
          onChange={(postQuantum) => onChange({ postQuantum })}
        />
      </div>
      {draft.skipVerify && <Unverified />}
    </>
  );
}
