import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { Bell, BellOff, ChevronLeft, Pencil, Send, Trash2 } from "lucide-react";
import { lazy, Suspense, useState } from "react";
import { alertApi, type Channel } from "../api/alerts";
import { useToast } from "../app/toasts";
import { useMayEdit } from "../app/useSelf";
import { ErrorNote } from "../ui/ErrorNote";
import { briefly } from "../ui/problems";
import { Deliveries } from "./Deliveries";
import { channelLine } from "./kinds";
import { Transcript } from "./Transcript";
import { useChannels } from "./useAlerts";
import { useDeleteLater } from "./useLater";
import "../styles/target.css";
import "../styles/settings.css";
import { t } from "../words/t";

const ChannelDialog = lazy(() => import("./ChannelDialog"));

export function ChannelPage() {
  const id = Number(useParams({ from: "/app/settings/channels/$id" }).id);
  const channels = useChannels();
  const channel = channels.data?.items.find((one) => one.id === id);
  return (
    <div className="page">
      <Link to="/settings/channels" className="back">
        <ChevronLeft size={16} aria-hidden /> {t("Channels")}
      </Link>
      {channel ? (
        <Details key={id} channel={channel} />
      ) : channels.error ? (
        <ErrorNote error={channels.error} onRetry={() => void channels.refetch()} />
      ) : channels.data && !channels.isFetching ? (
        <div className="empty">
          <h1>{t("There is no such channel")}</h1>
          <p>{t("It may have been deleted.")}</p>
        </div>
      ) : (
        <div className="skeleton page-skeleton" />
      )}
    </div>
  );
}

function Details({ channel }: { channel: Channel }) {
  const queries = useQueryClient();
  const toast = useToast();
  const navigate = useNavigate();
  const mayEdit = useMayEdit();
  const [editing, setEditing] = useState(false);
  const remove = useDeleteLater("channels", alertApi.deleteChannel);
  const test = useMutation({
    mutationFn: () => alertApi.testChannel(channel.id, "test"),
    onSuccess: () => void queries.invalidateQueries({ queryKey: ["deliveries", channel.id] }),
  });
  const toggle = useMutation({
    mutationFn: () => alertApi.updateChannel(channel.id, { enabled: !channel.enabled }, channel.version),
    onSuccess: (saved) => {
      void queries.invalidateQueries({ queryKey: ["channels"] });
      toast({
        text: saved.enabled
          ? t("{name} is on.", { name: saved.name })
          : t("{name} is off: nothing is told here.", { name: saved.name }),
      });
    },
    onError: (error) =>
      toast({ bad: true, text: t("{name} was not changed: {why}", { name: channel.name, why: briefly(error) }) }),
  });
  return (
    <>
      <div className="target-head">
        <div className="title">
          <h1>{channel.name}</h1>
          <p className="muted">
            {channel.enabled
              ? t("{channel} · on", { channel: channelLine(channel) })
              : t("{channel} · off: nothing is told here", { channel: channelLine(channel) })}
          </p>
        </div>
        {mayEdit && (
          <div className="actions">
            <button type="button" className="btn primary" disabled={test.isPending} onClick={() => test.mutate()}>
              <Send size={15} aria-hidden /> {test.isPending ? t("Sending") : t("Send test")}
            </button>
            <button type="button" className="btn" onClick={() => setEditing(true)}>
              <Pencil size={15} aria-hidden /> {t("Edit")}
            </button>
            <button type="button" className="btn" disabled={toggle.isPending} onClick={() => toggle.mutate()}>
              {channel.enabled ? <BellOff size={15} aria-hidden /> : <Bell size={15} aria-hidden />}
              {channel.enabled ? t("Turn off") : t("Turn on")}
            </button>
            <button
              type="button"
              className="btn danger"
              onClick={() => {
                remove(channel);
                void navigate({ to: "/settings/channels" });
              }}
            >
              <Trash2 size={15} aria-hidden /> {t("Delete")}
            </button>
          </div>
        )}
      </div>
      {!channel.readable && (
        <div className="banner bad">
          <p>
            {t("Its settings were sealed with another {variable} and cannot be read. Edit it and write them again.", {
              variable: "SECRET_KEY",
            })}
          </p>
        </div>
      )}
      {test.error && <ErrorNote error={test.error} onRetry={() => test.mutate()} />}
      {test.data && <Transcript test={test.data} />}
      {mayEdit && <Deliveries id={channel.id} />}
      {editing && (
        <Suspense fallback={null}>
          <ChannelDialog channel={channel} onClose={() => setEditing(false)} />
        </Suspense>
      )}
    </>
  );
}
