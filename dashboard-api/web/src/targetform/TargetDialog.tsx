import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, lazy, Suspense, useEffect, useRef, useState } from "react";
import { ApiError } from "../api/client";
import { api } from "../api/endpoints";
import type { Target } from "../api/types";
import { useList, useLive } from "../app/live";
import { useToast } from "../app/toasts";
import { Dialog } from "../ui/Dialog";
import { ErrorNote } from "../ui/ErrorNote";
import { t } from "../words/t";
import { AssertionSection } from "./AssertionSection";
import { assertionsBody, type RowProblems, rowProblems, rowsOf } from "./assertions";
import { type Draft, draftOf, type Errors, emptyDraft, errorsOf, hasStatus, type Parsed, toBody } from "./form";
import { Choice, HeartbeatFields } from "./HeartbeatFields";
import { emptyHeartbeat, heartbeatBody, heartbeatDraftOf } from "./heartbeat";
import { PlaceFields } from "./PlaceFields";
import { noPlace, placeBody, placeOf } from "./place";
import { RequestFold } from "./RequestFold";
import { requestBody, requestOf } from "./request";
import { TargetFields } from "./TargetFields";
import { isRunning, useFormTest } from "./useFormTest";
import { sameVisit, testBody } from "./visit";
import { ownZone } from "./zones";
import "../styles/dialog.css";

const PasteMany = lazy(() => import("./PasteMany"));
const TestPanel = lazy(() => import("./TestPanel"));

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
  const [many, setMany] = useState(false);
  const [beat, setBeat] = useState(target?.kind === "heartbeat");
  const [beatBefore] = useState(() => (target?.kind === "heartbeat" ? heartbeatDraftOf(target, ownZone()) : null));
  const [beatDraft, setBeatDraft] = useState(() => beatBefore ?? emptyHeartbeat(ownZone()));
  const [placeBefore] = useState(() => (target ? placeOf(target) : noPlace));
  const [place, setPlace] = useState(placeBefore);
  const [request, setRequest] = useState(() => requestOf(target));
  const [rowsBefore] = useState(() => rowsOf(target?.assertions));
  const [rows, setRows] = useState(rowsBefore);
  const [atRows, setAtRows] = useState<RowProblems>({});
  const [errors, setErrors] = useState<Errors>({});
  const [saving, setSaving] = useState(false);
  const [test, beginTest] = useFormTest();

  // What a target has of a request shows also when its address is no longer of the web: it has to be seen to go.
  const hasRequest = !beat && (hasStatus(draft.url) || target?.http != null);

  const refuse = (found: Errors, at: RowProblems = {}) => {
    setErrors(found);
    setAtRows(at);
    setSaving(false);
  };
  // Once they are marked: those of the time before are still marked until then.
  useEffect(() => {
    if (Object.keys(errors).length === 0 && Object.keys(atRows).length === 0) return;
    form.current?.querySelector<HTMLElement>("[aria-invalid=true], [role=alert]")?.focus();
  }, [errors, atRows]);

  const refuseBy = (error: unknown) =>
    error instanceof ApiError
      ? refuse(errorsOf(error.problem), rowProblems(error.problem, rows))
      : refuse({ form: String(error) });

  const read = (): Parsed => {
    const parsed = beat ? heartbeatBody(beatDraft, beatBefore) : toBody(draft, before);
    const asked = hasRequest ? requestBody(request, target) : { body: {}, errors: {} };
    const wrong = { ...(parsed.ok ? {} : parsed.errors), ...asked.errors };
    if (!parsed.ok || Object.keys(wrong).length > 0) return { ok: false, errors: wrong };
    const asserted = beat ? {} : assertionsBody(rows, rowsBefore);
    return { ok: true, body: { ...parsed.body, ...asked.body, ...asserted, ...placeBody(place, placeBefore) } };
  };

  const testNow = async () => {
    if (isRunning(test)) return;
    const parsed = read();
    if (!parsed.ok) return refuse(parsed.errors);
    setErrors({});
    setAtRows({});
    try {
      await beginTest(testBody(parsed.body, target), rows);
    } catch (error) {
      refuseBy(error);
    }
  };

  const save = async (event: FormEvent) => {
    event.preventDefault();
    if (saving) return;
    const parsed = read();
    if (!parsed.ok) return refuse(parsed.errors);
    const { body } = parsed;
    if (target && Object.keys(body).length === 0) return onClose();
    setSaving(true);
    try {
      const saved = target
        ? await api.updateTarget(target.id, body, target.spec_version)
        : await api.createTarget(body);
      store.applySaved(saved);
      queries.setQueryData(["target", saved.id], saved);
      void queries.invalidateQueries({ queryKey: ["revisions", saved.id] });
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
      refuseBy(error);
    }
  };

  const choice = (
    <Choice
      label={t("What to watch")}
      value={many ? "many" : beat ? "heartbeat" : "address"}
      options={[
        ["address", t("An address")],
        ["many", t("Many addresses")],
        ["heartbeat", t("A job that pings")],
      ]}
      onChange={(kind) => {
        setMany(kind === "many");
        setBeat(kind === "heartbeat");
        setErrors({});
      }}
    />
  );
  if (many)
    return (
      <Suspense
        fallback={
          <div className="dialog-body">
            {choice}
            <span className="skeleton" style={{ height: 480 }} />
          </div>
        }
      >
        <PasteMany
          choice={choice}
          draft={draft}
          place={place}
          regions={regions.map((region) => region.region)}
          onDraft={(change) => setDraft((old) => ({ ...old, ...change }))}
          onPlace={(change) => setPlace((old) => ({ ...old, ...change }))}
          onClose={onClose}
        />
      </Suspense>
    );
  return (
    <form ref={form} onSubmit={(event) => void save(event)} noValidate>
      <div className="dialog-body">
        {errors.form && (
          <div className="banner bad" role="alert" tabIndex={-1}>
            <p>{errors.form}</p>
          </div>
        )}
        {target === null && choice}
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
        {hasRequest && (
          <RequestFold
            draft={request}
            errors={errors}
            onChange={(change) => setRequest((old) => ({ ...old, ...change }))}
          />
        )}
        {!beat && (
          <AssertionSection
            url={draft.url}
            rows={rows}
            problem={errors.assertions}
            problems={atRows}
            test={test}
            onChange={setRows}
          />
        )}
        <PlaceFields
          id={target?.id ?? null}
          place={place}
          errors={errors}
          onChange={(change) => setPlace((old) => ({ ...old, ...change }))}
        />
        {test && !beat && (
          <Suspense>
            <TestPanel test={test} target={target} changed={!sameVisit(read(), target, test.body)} />
          </Suspense>
        )}
      </div>
      <div className={beat ? "dialog-foot" : "dialog-foot three"}>
        <button type="button" className="btn" onClick={onClose}>
          {t("Cancel")}
        </button>
        {!beat && (
          <button type="button" className="btn" aria-disabled={isRunning(test)} onClick={() => void testNow()}>
            {t(isRunning(test) ? "Testing" : "Test now")}
          </button>
        )}
        <button type="submit" className="btn primary" disabled={saving}>
          {t(saving ? "Saving" : target ? "Save changes" : "Start watching")}
        </button>
      </div>
    </form>
  );
}
