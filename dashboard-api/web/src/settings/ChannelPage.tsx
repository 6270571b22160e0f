import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { Bell, BellOff, ChevronLeft, Pencil, Send, Trash2 } from "lucide-react";
import { lazy, Suspense, useState } from "react";
import { alertApi, type Channel } from "../api/alerts";
import { useToast } from "../app/toasts";
import { useMayEdit } from "../app/useSelf";
import { ErrorNote } from "../ui/ErrorNote";
import { briefly } from "../ui/problems";
import { useChannels } from "./ChannelsPage";
import { Deliveries } from "./Deliveries";
import { kindLabel } from "./kinds";
import { Transcript } from "./Transcript";
import { useDeleteLater } from "./useLater";
import "../styles/target.css";
import "../styles/settings.css";

const ChannelDialog = lazy(() => import("./ChannelDialog"));

export function ChannelPage() {
  const id = Number(useParams({ from: "/app/settings/channels/$id" }).id);
  const channels = useChannels();
  const channel = channels.data?.items.find((one) => one.id === id);
  return (
    <div className="page">
      <Link to="/settings/channels" className="back">
        <ChevronLeft size={16} aria-hidden /> Channels
      </Link>
      {channel ? (
        <Details key={id} channel={channel} />
      ) : channels.error ? (
        <ErrorNote error={channels.error} onRetry={() => void channels.refetch()} />
      ) : channels.data && !channels.isFetching ? (
        <div className="empty">
          <h1>There is no such channel</h1>
          <p>It may have been deleted.</p>
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
      toast({ text: saved.enabled ? `${saved.name} is on.` : `${saved.name} is off: nothing is told here.` });
    },
    onError: (error) => toast({ bad: true, text: `${channel.name} was not changed: ${briefly(error)}` }),
  });
  return (
    <>
      <div className="target-head">
        <div className="title">
          <h1>{channel.name}</h1>
          <p className="muted">
            {kindLabel(channel.kind)}
            {channel.to && `, ${channel.to}`} · {channel.enabled ? "on" : "off: nothing is told here"}
          </p>
        </div>
        {mayEdit && (
          <div className="actions">
            <button type="button" className="btn primary" disabled={test.isPending} onClick={() => test.mutate()}>
              <Send size={15} aria-hidden /> {test.isPending ? "Sending" : "Send test"}
            </button>
            <button type="button" className="btn" onClick={() => setEditing(true)}>
              <Pencil size={15} aria-hidden /> Edit
            </button>
            <button type="button" className="btn" disabled={toggle.isPending} onClick={() => toggle.mutate()}>
              {channel.enabled ? <BellOff size={15} aria-hidden /> : <Bell size={15} aria-hidden />}
              {channel.enabled ? "Turn off" : "Turn on"}
            </button>
            <button
              type="button"
              className="btn danger"
              onClick={() => {
                remove(channel);
                void navigate({ to: "/settings/channels" });
              }}
            >
              <Trash2 size={15} aria-hidden /> Delete
            </button>
          </div>
        )}
      </div>
      {!channel.readable && (
        <div className="banner bad">
          <p>Its settings were sealed with another SECRET_KEY and cannot be read. Edit it and write them again.</p>
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
