import { useQueryClient } from "@tanstack/react-query";
import { KeyRound, Plus } from "lucide-react";
import { lazy, Suspense, useState } from "react";
import { type ApiKey, accountApi } from "../api/accounts";
import { useKeys } from "../app/keys";
import { useToast } from "../app/toasts";
import { useSelf } from "../app/useSelf";
import { Confirm } from "../ui/Confirm";
import { ErrorNote } from "../ui/ErrorNote";
import { briefly } from "../ui/problems";
import { Ago, useNow } from "../ui/time";
import { useApiKeys, useMembers } from "./people";
import { nameOf } from "./roles";
import { SettingsTabs } from "./SettingsTabs";
import { isExpired, keyMay } from "./scopes";
import { Until } from "./Until";
import "../styles/settings.css";
import "../styles/people.css";
import { Rich } from "../words/Rich";
import { t } from "../words/t";

const KeyDialog = lazy(() => import("./KeyDialog"));

/** What programs sign in with: mine, or everybody's for an owner. */
export function KeysPage() {
  const owner = useSelf()?.role === "owner";
  const keys = useApiKeys();
  const [making, setMaking] = useState(false);
  const [revoking, setRevoking] = useState<ApiKey | null>(null);
  const make = () => setMaking(true);
  useKeys({ c: make });
  return (
    <div className="page">
      <div className="page-head">
        <div>
          <h1>{t("API keys")}</h1>
          <p className="muted">
            {owner
              ? t("What programs sign in with. Everybody's, as you are an owner.")
              : t("What programs sign in with. Yours.")}
          </p>
        </div>
        <button type="button" className="btn primary push" onClick={make}>
          <Plus size={16} aria-hidden /> {t("Make a key")}
        </button>
      </div>
      <SettingsTabs />
      {keys.error && !keys.data && <ErrorNote error={keys.error} onRetry={() => void keys.refetch()} />}
      {!keys.data && !keys.error && <div className="card skeleton people-skeleton" />}
      {keys.data?.length === 0 && (
        <div className="card empty">
          <KeyRound size={28} aria-hidden className="muted" />
          <h2>{t("No program has a key yet")}</h2>
          <p>
            {t(
              "A key lets a script, a pipeline or Terraform use the API without your password: with only the rights you tick, for as long as you say.",
            )}
          </p>
          <div className="actions">
            <button type="button" className="btn primary" onClick={make}>
              <Plus size={16} aria-hidden /> {t("Make a key")}
            </button>
          </div>
        </div>
      )}
      {keys.data && keys.data.length > 0 && (
        <ul className="card entries" aria-label={t("API keys")}>
          {keys.data.map((one) => (
            <KeyRow key={one.id} of={one} onRevoke={() => setRevoking(one)} />
          ))}
        </ul>
      )}
      {making && (
        <Suspense fallback={null}>
          <KeyDialog onClose={() => setMaking(false)} />
        </Suspense>
      )}
      {revoking && <Revoke of={revoking} onClose={() => setRevoking(null)} />}
    </div>
  );
}

function KeyRow({ of: key, onRevoke }: { of: ApiKey; onRevoke: () => void }) {
  const expired = isExpired(key, useNow());
  return (
    <li className="entry" data-key={key.id} data-off={expired || undefined}>
      <KeyRound size={18} aria-hidden />
      <div>
        <b className="entry-name">{key.name}</b> <code className="muted">{key.prefix}…</code>
        <p className="muted">
          {keyMay(key)} · <Whose of={key} />
        </p>
        <p className="muted">
          <Rich text="made {ago}" ago={<Ago at={key.created_at} />} />
          {" · "}
          {key.last_used_at ? <Rich text="last used {ago}" ago={<Ago at={key.last_used_at} />} /> : t("never used")}
        </p>
      </div>
      <span className="entry-state">{key.expires_at ? <Until at={key.expires_at} /> : t("does not expire")}</span>
      <button type="button" className="btn" onClick={onRevoke}>
        <Rich text="Revoke<sr> {name}</sr>" name={key.name} sr={(inner) => <span className="sr">{inner}</span>} />
      </button>
    </li>
  );
}

function Whose({ of: key }: { of: ApiKey }) {
  const self = useSelf();
  const members = useMembers();
  if (key.user_id === null) return t("of the installation");
  if (key.user_id === self?.id) return t("yours");
  const person = members.data?.find((one) => one.id === key.user_id);
  return person ? t("of {name}", { name: nameOf(person) }) : t("of somebody else");
}

function Revoke({ of: key, onClose }: { of: ApiKey; onClose: () => void }) {
  const queries = useQueryClient();
  const toast = useToast();
  const revoke = async () => {
    try {
      await accountApi.revokeKey(key.id);
      toast({ text: t("{name} is revoked.", { name: key.name }) });
    } catch (error) {
      toast({ bad: true, text: t("{name} was not revoked: {why}", { name: key.name, why: briefly(error) }) });
    }
    void queries.invalidateQueries({ queryKey: ["keys"] });
  };
  return (
    <Confirm
      title={t("Revoke {name}?", { name: key.name })}
      act={t("Revoke {name}", { name: key.name })}
      consequences={[
        t("Programs that use it are refused from now on: give them another one first."),
        t("Keys that it made end with it."),
        key.last_used_at ? t("It has been used: the date beside it says when last.") : t("It has never been used."),
      ]}
      onAct={revoke}
      onClose={onClose}
    >
      {t("This cannot be undone.")}
    </Confirm>
  );
}
