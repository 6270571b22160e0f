import { ExternalLink, KeyRound } from "lucide-react";
import { api } from "../api/endpoints";
import type { Session } from "../api/types";
import { t } from "../words/t";
import { keepNext } from "./next";
import { browserHasPasskeys, givePasskey, useWays } from "./passkeys";

async function byPasskey(): Promise<Session> {
  const { options } = await api.askPasskey();
  return api.loginWithPasskey(await givePasskey(options.publicKey));
}

export async function byProvider(next: string | undefined, again = false): Promise<undefined> {
  const { url } = await api.askProvider(again);
  keepNext(next);
  location.assign(url);
}

/** What there is besides the password, below it: nothing moves when that becomes known. */
export function OtherWays({
  next,
  busy,
  onTry,
}: {
  /** Where they want to go. */
  next: string | undefined;
  busy: boolean;
  onTry: (way: () => Promise<Session | undefined>) => void;
}) {
  const ways = useWays();
  const passkeys = ways?.passkeys && browserHasPasskeys();
  if (!passkeys && !ways?.provider) return null;
  return (
    <div className="other-ways">
      {passkeys && (
        <button type="button" className="btn" disabled={busy} onClick={() => onTry(byPasskey)}>
          <KeyRound size={16} aria-hidden /> {t("Sign in with a passkey")}
        </button>
      )}
      {ways.provider && (
        <button type="button" className="btn" disabled={busy} onClick={() => onTry(() => byProvider(next))}>
          <ExternalLink size={16} aria-hidden />{" "}
          <span>{t("Continue with {provider}", { provider: ways.provider.label })}</span>
        </button>
      )}
    </div>
  );
}
