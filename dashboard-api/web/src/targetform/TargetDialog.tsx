import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, lazy, Suspense, useEffect, useMemo, useRef, useState } from "react";
import { ApiError } from "../api/client";
import { api } from "../api/endpoints";
import type { Assertion } from "../api/spec";
import type { Target } from "../api/types";
import { useList, useLive } from "../app/live";
import { tellPreviews } from "../app/tested";
import { useToast } from "../app/toasts";
import { ruleDraftOf } from "../rule/rule";
import { AskFirst } from "../ui/AskFirst";
import { CloseButton, Dialog } from "../ui/Dialog";
import { ErrorNote } from "../ui/ErrorNote";
import { firstProblem } from "../ui/focusAfter";
import { useChanged } from "../ui/useChanged";
import { t } from "../words/t";
import { AssertionSection } from "./AssertionSection";
import { assertionsBody, kindOf, MOST, type RowProblems, rowProblems, rowsOf, withRow } from "./assertions";
import { differences, rebased } from "./conflict";
import { type Draft, draftOf, type Errors, emptyDraft, errorsOf, type Parsed, toBody } from "./form";
import { Choice, HeartbeatFields } from "./HeartbeatFields";
import { emptyHeartbeat, heartbeatBody, heartbeatDraftOf } from "./heartbeat";
import { KindFold } from "./KindFold";
import { PlaceFields } from "./PlaceFields";
import { noPlace, placeBody, placeOf } from "./place";
import { RuleFold } from "./RuleFold";
import { ruleBody } from "./ruling";
import { TargetFields } from "./TargetFields";
import { foldsOf, showsTls, termsBody, termsOf, termsOver } from "./terms";
import { isRunning, useFormTest } from "./useFormTest";
import { sameVisit, testBody } from "./visit";
import { ownZone } from "./zones";
import "../styles/dialog.css";

const AlertsPart = lazy(() => import("./AlertsPart"));
const Conflict = lazy(() => import("./Conflict"));
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
        <TargetForm found={null} onClose={onClose} />
      ) : target.data ? (
        <TargetForm found={target.data} onClose={onClose} />
      ) : target.error ? (
        <ErrorNote error={target.error} onRetry={() => void target.refetch()} />
      ) : (
        <div className="dialog-body">
          <span className="skeleton" style={{ height: 720 }} />
        </div>
      )}
    </Dialog>
  );
}

/** What the fields hold of a target before anything is changed. */
const beforeOf = (target: Target | null) => ({
  draft: target && draftOf(target),
  beat: target?.kind === "heartbeat" ? heartbeatDraftOf(target, ownZone()) : null,
  place: target ? placeOf(target) : noPlace,
  terms: termsOf(target),
  rule: ruleDraftOf(target?.policy ?? {}), // a node of the release before gives none
  rows: rowsOf(target?.assertions),
});

function TargetForm({ found, onClose }: { found: Target | null; onClose: () => void }) {
  const { store } = useLive();
  const { regions } = useList();
  const queries = useQueryClient();
  const toast = useToast();
  const navigate = useNavigate();
  const form = useRef<HTMLFormElement>(null);
  const [opened] = useState(found); // whatever is read of it meanwhile
  const [target, setTarget] = useState(opened); // the version that is saved over
  const before = useMemo(() => beforeOf(target), [target]);
  const [draft, setDraft] = useState<Draft>(before.draft ?? emptyDraft);
  const [many, setMany] = useState(false);
  const [beat, setBeat] = useState(target?.kind === "heartbeat");
  const [beatDraft, setBeatDraft] = useState(() => before.beat ?? emptyHeartbeat(ownZone()));
  const [place, setPlace] = useState(before.place);
  const [terms, setTerms] = useState(before.terms);
  const [rule, setRule] = useState(before.rule);
  const [rows, setRows] = useState(before.rows);
  const rowAdded = useRef(false);
  const [atRows, setAtRows] = useState<RowProblems>({});
  const [errors, setErrors] = useState<Errors>({});
  const [saving, setSaving] = useState(false);
  const [test, beginTest] = useFormTest();
  const entered = useChanged([draft, beatDraft, place, terms, rule, rows.map((row) => row.of)]);

  const kind = beat ? "heartbeat" : kindOf(draft.url);
  const folds = foldsOf(kind, target);
  const tls = !beat && showsTls(kind, draft.url, terms, target);

  const refuse = (found: Errors, at: RowProblems = {}) => {
    setErrors(found);
    setAtRows(at);
    setSaving(false);
  };
  // Once they are marked: those of the time before are still marked until then.
  useEffect(() => {
    if (Object.keys(errors).length === 0 && Object.keys(atRows).length === 0) return;
    firstProblem(form.current)?.focus();
  }, [errors, atRows]);

  const refuseBy = (error: unknown) =>
    error instanceof ApiError
      ? refuse(errorsOf(error.problem), rowProblems(error.problem, rows))
      : refuse({ form: String(error) });

  const read = (): Parsed => {
    const parsed = beat ? heartbeatBody(beatDraft, before.beat) : toBody(draft, before.draft);
    const asked = beat ? { body: {}, errors: {} } : termsBody(terms, target, tls ? [...folds, "tls"] : folds);
    const ruled = ruleBody(rule, before.rule);
    const wrong = { ...(parsed.ok ? {} : parsed.errors), ...asked.errors, ...ruled.errors };
    if (!parsed.ok || Object.keys(wrong).length > 0) return { ok: false, errors: wrong };
    const asserted = beat ? {} : assertionsBody(rows, before.rows);
    const placed = placeBody(place, before.place);
    return { ok: true, body: { ...parsed.body, ...asked.body, ...asserted, ...ruled.body, ...placed } };
  };
  const differ = () => {
    if (!opened || !target || opened.spec_version === target.spec_version) return null;
    const parsed = read();
    return differences(opened, target, parsed.ok ? parsed.body : {});
  };

  /** Somebody else was first: the form goes on from their version, with what was changed here. */
  const takeNewest = async (id: number) => {
    const now = await api.target(id);
    const next = beforeOf(now);
    setDraft((old) => rebased(old, before.draft ?? old, next.draft ?? old));
    setBeatDraft((old) => rebased(old, before.beat ?? old, next.beat ?? old));
    setPlace((old) => rebased(old, before.place, next.place));
    setTerms((old) => termsOver(old, before.terms, next.terms));
    setRule((old) => rebased(old, before.rule, next.rule));
    setRows((old) => (assertionsBody(old, before.rows).assertions ? old : next.rows));
    setTarget(now);
    refuse({});
  };

  const expect = (of: Assertion) => {
    if (rows.length >= MOST) return;
    rowAdded.current = true;
    setRows((old) => withRow(old, of));
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
      queries.setQueryData(["terms", saved.id], saved);
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
      if (saved.preview_check_id) void tellPreviews([{ name: saved.name, check: saved.preview_check_id }], toast);
      onClose();
      if (beat && !target) void navigate({ to: "/targets/$id", params: { id: String(saved.id) } });
    } catch (error) {
      if (target && error instanceof ApiError && error.status === 412) await takeNewest(target.id).catch(refuseBy);
      else refuseBy(error);
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
          entered={entered}
          onDraft={(change) => setDraft((old) => ({ ...old, ...change }))}
          onPlace={(change) => setPlace((old) => ({ ...old, ...change }))}
          onClose={onClose}
        />
      </Suspense>
    );
  const clash = differ();
  return (
    <form ref={form} onSubmit={(event) => void save(event)} noValidate>
      <AskFirst when={entered} />
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
        <RuleFold
          id={target?.id ?? null}
          draft={rule}
          errors={errors}
          onChange={(change) => setRule((old) => ({ ...old, ...change }))}
        />
        {folds.map((of) => (
          <KindFold
            key={of}
            of={of}
            own={of === kind}
            tls={tls}
            url={draft.url}
            terms={terms}
            errors={errors}
            onTerms={setTerms}
            onUrl={(url) => setDraft((old) => ({ ...old, url }))}
            onExpect={expect}
          />
        ))}
        {!beat && (
          <AssertionSection
            url={draft.url}
            rows={rows}
            added={rowAdded}
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
        <Suspense fallback={<span className="skeleton" style={{ height: 120 }} />}>
          <AlertsPart id={target?.id ?? null} tags={place.tags} openOn={rule.openOn} />
        </Suspense>
        {test && !beat && (
          <Suspense>
            <TestPanel test={test} target={target} changed={!sameVisit(read(), target, test.body)} />
          </Suspense>
        )}
      </div>
      <div className={beat ? "dialog-foot" : "dialog-foot three"}>
        <CloseButton>{t("Cancel")}</CloseButton>
        {!beat && (
          <button type="button" className="btn" aria-disabled={isRunning(test)} onClick={() => void testNow()}>
            {t(isRunning(test) ? "Testing" : "Test now")}
          </button>
        )}
        <button type="submit" className="btn primary" disabled={saving}>
          {clash && clash.replaced.length > 0 && !saving
            ? t("Save over theirs")
            : t(saving ? "Saving" : target ? "Save changes" : "Start watching")}
        </button>
      </div>
      {clash && target && (
        <Suspense>
          <Conflict now={target} of={clash} />
        </Suspense>
      )}
    </form>
  );
}
