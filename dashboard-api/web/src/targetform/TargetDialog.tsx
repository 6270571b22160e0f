import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, useRef, useState } from "react";
import { ApiError } from "../api/client";
import { api } from "../api/endpoints";
import type { Target } from "../api/types";
import { useList, useLive } from "../app/live";
import { useToast } from "../app/toasts";
import { Dialog } from "../ui/Dialog";
import { ErrorNote } from "../ui/ErrorNote";
import { t } from "../words/t";
import { type Draft, draftOf, type Errors, emptyDraft, errorsOf, toBody } from "./form";
import { Choice, HeartbeatFields } from "./HeartbeatFields";
import { emptyHeartbeat, heartbeatBody, heartbeatDraftOf } from "./heartbeat";
import { PlaceFields } from "./PlaceFields";
import { noPlace, placeBody, placeOf } from "./place";
import { TargetFields } from "./TargetFields";
import { ownZone } from "./zones";
import "../styles/dialog.css";

/** Adds a target, or edits one when `editId` is given. */
export default function TargetDialog({ editId, onClose }: { editId: number | null; onClose: () => void }) {
  const target = useQuery({
    queryKey: ["target", editId],
    queryFn: () => api.target(editId ?? 0),
    enabled: editId !== null,
    staleTime: 0,
    gcTime: 0,
  });
  return (
    <Dialog title={t(editId === null ? "Add target" : "Edit target")} onClose={onClose}>
      {editId === null ? (
        <TargetForm target={null} onClose={onClose} />
      ) : target.data ? (
        <TargetForm target={target.data} onClose={onClose} />
      ) : target.error ? (
        <ErrorNote error={target.error} onRetry={() => void target.refetch()} />
      ) : (
        <div className="dialog-body">
          <span className="skeleton" style={{ height: 180 }} />
        </div>
      )}
    </Dialog>
  );
}

function TargetForm({ target, onClose }: { target: Target | null; onClose: () => void }) {
  const { store } = useLive();
  const { regions } = useList();
  const queries = useQueryClient();
  const toast = useToast();
  const navigate = useNavigate();
  const form = useRef<HTMLFormElement>(null);
  const [before] = useState<Draft | null>(() => (target ? draftOf(target) : null));
  const [draft, setDraft] = useState<Draft>(before ?? emptyDraft);
  const [beat, setBeat] = useState(target?.kind === "heartbeat");
  const [beatBefore] = useState(() => (target?.kind === "heartbeat" ? heartbeatDraftOf(target, ownZone()) : null));
  const [beatDraft, setBeatDraft] = useState(() => beatBefore ?? emptyHeartbeat(ownZone()));
  const [placeBefore] = useState(() => (target ? placeOf(target) : noPlace));
  const [place, setPlace] = useState(placeBefore);
  const [errors, setErrors] = useState<Errors>({});
  const [saving, setSaving] = useState(false);

  const refuse = (found: Errors) => {
    setErrors(found);
    setSaving(false);
    requestAnimationFrame(() => {
      form.current?.querySelector<HTMLElement>("[aria-invalid=true], [role=alert]")?.focus();
    });
  };

  const save = async (event: FormEvent) => {
    event.preventDefault();
    if (saving) return;
    const parsed = beat ? heartbeatBody(beatDraft, beatBefore) : toBody(draft, before);
    if (!parsed.ok) return refuse(parsed.errors);
    const body = { ...parsed.body, ...placeBody(place, placeBefore) };
    if (target && Object.keys(body).length === 0) return onClose();
    setSaving(true);
    try {
      const saved = target
        ? await api.updateTarget(target.id, body, target.spec_version)
        : await api.createTarget(body);
      store.applySaved(saved);
      queries.setQueryData(["target", saved.id], saved);
      void queries.invalidateQueries({ queryKey: ["heartbeat", saved.id] });
      toast({
        text: t(
          target
            ? "{name} saved."
            : beat
              ? "{name} added. Have the job ping its address."
              : "{name} added. Its first check is on the way.",
          { name: saved.name },
        ),
      });
      onClose();
      if (beat && !target) void navigate({ to: "/targets/$id", params: { id: String(saved.id) } });
    } catch (error) {
      refuse(error instanceof ApiError ? errorsOf(error.problem) : { form: String(error) });
    }
  };

  return (
    <form ref={form} onSubmit={(event) => void save(event)} noValidate>
      <div className="dialog-body">
        {errors.form && (
          <div className="banner bad" role="alert" tabIndex={-1}>
            <p>{errors.form}</p>
          </div>
        )}
        {target === null && (
          <Choice
            label={t("What to watch")}
            value={beat ? "heartbeat" : "address"}
            options={[
              ["address", t("An address")],
              ["heartbeat", t("A job that pings")],
            ]}
            onChange={(kind) => {
              setBeat(kind === "heartbeat");
              setErrors({});
            }}
          />
        )}
        {beat ? (
          <HeartbeatFields
            draft={beatDraft}
            errors={errors}
            onChange={(change) => setBeatDraft((old) => ({ ...old, ...change }))}
          />
        ) : (
          <TargetFields
            draft={draft}
            errors={errors}
            regions={regions.map((region) => region.region)}
            isNew={target === null}
            onChange={(change) => setDraft((old) => ({ ...old, ...change }))}
          />
        )}
        <PlaceFields
          id={target?.id ?? null}
          place={place}
          errors={errors}
          onChange={(change) => setPlace((old) => ({ ...old, ...change }))}
        />
      </div>
      <div className="dialog-foot">
        <button type="button" className="btn" onClick={onClose}>
          {t("Cancel")}
        </button>
        <button type="submit" className="btn primary" disabled={saving}>
          {t(saving ? "Saving" : target ? "Save changes" : "Start watching")}
        </button>
      </div>
    </form>
  );
}
