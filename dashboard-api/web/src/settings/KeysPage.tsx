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
          <h1>API keys</h1>
          <p className="muted">What programs sign in with. {owner ? "Everybody's, as you are an owner." : "Yours."}</p>
        </div>
        <button type="button" className="btn primary push" onClick={make}>
          <Plus size={16} aria-hidden /> Make a key
        </button>
      </div>
      <SettingsTabs />
      {keys.error && !keys.data && <ErrorNote error={keys.error} onRetry={() => void keys.refetch()} />}
      {!keys.data && !keys.error && <div className="card skeleton people-skeleton" />}
      {keys.data?.length === 0 && (
        <div className="card empty">
          <KeyRound size={28} aria-hidden className="muted" />
          <h2>No program has a key yet</h2>
          <p>
            A key lets a script, a pipeline or Terraform use the API without your password: with only the rights you
            tick, for as long as you say.
          </p>
          <div className="actions">
            <button type="button" className="btn primary" onClick={make}>
              <Plus size={16} aria-hidden /> Make a key
            </button>
          </div>
        </div>
      )}
      {keys.data && keys.data.length > 0 && (
        <ul className="card entries" aria-label="API keys">
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
          made <Ago at={key.created_at} />
          {" · "}
          {key.last_used_at ? (
            <>
              last used <Ago at={key.last_used_at} />
            </>
          ) : (
            "never used"
          )}
        </p>
      </div>
      <span className="entry-state">{key.expires_at ? <Until at={key.expires_at} /> : "does not expire"}</span>
      <button type="button" className="btn" onClick={onRevoke}>
        Revoke<span className="sr"> {key.name}</span>
      </button>
    </li>
  );
}

function Whose({ of: key }: { of: ApiKey }) {
  const self = useSelf();
  const members = useMembers();
  if (key.user_id === null) return "of the installation";
  if (key.user_id === self?.id) return "yours";
  const person = members.data?.find((one) => one.id === key.user_id);
  return person ? `of ${nameOf(person)}` : "of somebody else";
}

function Revoke({ of: key, onClose }: { of: ApiKey; onClose: () => void }) {
  const queries = useQueryClient();
  const toast = useToast();
  const revoke = async () => {
    try {
      await accountApi.revokeKey(key.id);
      toast({ text: `${key.name} is revoked.` });
    } catch (error) {
      toast({ bad: true, text: `${key.name} was not revoked: ${briefly(error)}` });
    }
    void queries.invalidateQueries({ queryKey: ["keys"] });
  };
  return (
    <Confirm
      title={`Revoke ${key.name}?`}
      act={`Revoke ${key.name}`}
      consequences={[
        "Programs that use it are refused from now on: give them another one first.",
        "Keys that it made end with it.",
        key.last_used_at ? "It has been used: the date beside it says when last." : "It has never been used.",
      ]}
      onAct={revoke}
      onClose={onClose}
    >
      This cannot be undone.
    </Confirm>
  );
}
