import { Link } from "@tanstack/react-router";
import { Bell, BellOff, Plus, Radio } from "lucide-react";
import { lazy, Suspense, useState } from "react";
import { useKeys } from "../app/keys";
import { useMayEdit } from "../app/useSelf";
import { ErrorNote } from "../ui/ErrorNote";
import { channelLine } from "./kinds";
import { SettingsTabs } from "./SettingsTabs";
import { useChannels } from "./useAlerts";
import { useHidden } from "./useLater";
import "../styles/settings.css";
import { t } from "../words/t";

const ChannelDialog = lazy(() => import("./ChannelDialog"));

/** Where messages go. */
export function ChannelsPage() {
  const channels = useChannels();
  const mayEdit = useMayEdit();
  const hidden = useHidden("channels");
  const [adding, setAdding] = useState(false);
  const add = () => setAdding(true);
  useKeys(mayEdit ? { c: add } : {});
  const items = channels.data?.items.filter((one) => !hidden.has(one.id));
  return (
    <div className="page">
      <div className="page-head">
        <div>
          <h1>{t("Channels")}</h1>
          <p className="muted">{t("Where messages go. A notification rule says which.")}</p>
        </div>
        {mayEdit && (
          <button type="button" className="btn primary push" onClick={add}>
            <Plus size={16} aria-hidden /> {t("Add channel")}
          </button>
        )}
      </div>
      <SettingsTabs />
      {channels.error && !channels.data && <ErrorNote error={channels.error} onRetry={() => void channels.refetch()} />}
      {channels.isPending && <div className="skeleton page-skeleton" />}
      {items?.length === 0 && (
        <div className="card empty">
          <Radio size={28} aria-hidden className="muted" />
          <h2>{t("Nobody can be told yet")}</h2>
          <p>
            {t("Add a mail server, a chat or an on-call service, send it a test, then name it in a notification rule.")}
          </p>
          {mayEdit && (
            <div className="actions">
              <button type="button" className="btn primary" onClick={add}>
                <Plus size={16} aria-hidden /> {t("Add channel")}
              </button>
            </div>
          )}
        </div>
      )}
      {items && items.length > 0 && (
        <ul className="card entries" aria-label={t("Channels")}>
          {items.map((one) => (
            <li key={one.id} className="entry" data-off={!one.enabled || undefined}>
              {one.enabled ? <Bell size={18} aria-hidden /> : <BellOff size={18} aria-hidden />}
              <div>
                <Link to="/settings/channels/$id" params={{ id: String(one.id) }} className="entry-link">
                  {one.name}
                </Link>
                <p className="muted">{channelLine(one)}</p>
              </div>
              <span className="entry-state">
                {!one.readable ? (
                  <span className="word s-degraded">{t("Settings cannot be read: write them again")}</span>
                ) : one.enabled ? (
                  t("On")
                ) : (
                  t("Off")
                )}
              </span>
            </li>
          ))}
        </ul>
      )}
      {adding && (
        <Suspense fallback={null}>
          <ChannelDialog channel={null} onClose={() => setAdding(false)} />
        </Suspense>
      )}
    </div>
  );
}
