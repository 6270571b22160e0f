import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { ChevronLeft } from "lucide-react";
import { type FormEvent, useRef, useState } from "react";
import { ApiError } from "../api/client";
import { api } from "../api/endpoints";
import type { Policy } from "../api/policy";
import type { Target } from "../api/types";
import { useLive } from "../app/live";
import { useToast } from "../app/toasts";
import { useSaid } from "../app/useSaid";
import { useMayEdit } from "../app/useSelf";
import { ErrorNote } from "../ui/ErrorNote";
import { firstProblem, focusAfter } from "../ui/focusAfter";
import { t } from "../words/t";
import { Comparison } from "./Comparison";
import { RuleFields } from "./RuleFields";
import { policyOf, type RuleErrors, ruleDraftOf, ruleErrorsOf, verdictOf } from "./rule";
import "../styles/target.css";
import "../styles/dialog.css";
import "../styles/rule.css";

const spans = ["7", "30", "90"] as const;
const USUAL_DAYS = "30";

/** Tries another rule on what was measured of a target. */
export function RulePage() {
  const id = Number(useParams({ from: "/app/targets/$id/rule" }).id);
  const mayEdit = useMayEdit();
  const target = useQuery({ queryKey: ["target", id], queryFn: () => api.target(id), staleTime: 0 });
  return (
    <div className="page rule">
      <Link to="/targets/$id" params={{ id: String(id) }} className="back">
        <ChevronLeft size={16} aria-hidden /> {target.data?.name ?? t("Target")}
      </Link>
      <div className="page-head">
        <div>
          <h1>{t("Try another rule")}</h1>
          <p className="muted">
            {mayEdit
              ? t("See what it would have told of the past, beside the rule of now. Nothing changes until you use it.")
              : t(
                  "Read only: see what another rule would have told of the past, beside the rule of now. Only editors and owners can use it.",
                )}
          </p>
        </div>
      </div>
      {target.data ? (
        <RuleForm key={target.data.id} target={target.data} />
      ) : target.error ? (
        <ErrorNote error={target.error} onRetry={() => void target.refetch()} />
      ) : (
        <div className="skeleton page-skeleton" />
      )}
    </div>
  );
}

function RuleForm({ target }: { target: Target }) {
  const form = useRef<HTMLFormElement>(null);
  const result = useRef<HTMLElement>(null);
  const [draft, setDraft] = useState(() => ruleDraftOf(target.policy ?? {})); // a node of the release before gives none
  const days = Number(useSearch({ from: "/app/targets/$id/rule" }).days ?? USUAL_DAYS);
  const [errors, setErrors] = useState<RuleErrors>({});
  const mayEdit = useMayEdit();
  const { store } = useLive();
  const queries = useQueryClient();
  const navigate = useNavigate({ from: "/targets/$id/rule" });
  const toast = useToast();

  const refuse = (found: RuleErrors) =>
    focusAfter(
      () => setErrors(found),
      () => firstProblem(form.current),
    );
  const onError = (error: unknown) =>
    refuse(error instanceof ApiError ? ruleErrorsOf(error.problem) : { form: String(error) });
  const replay = useMutation({
    mutationFn: (policy: Policy) => api.replay(target.id, policy, days, store.serverNow()),
    onSuccess: () => result.current?.focus(),
    onError,
  });
  const save = useMutation({
    mutationFn: (policy: Policy) => api.updateTarget(target.id, { policy }, target.spec_version),
    onSuccess: (saved) => {
      store.applySaved(saved);
      queries.setQueryData(["target", saved.id], saved);
      void queries.invalidateQueries({ queryKey: ["revisions", saved.id] });
      toast({ text: t("{name} is judged by this rule from now on.", { name: saved.name }) });
      void navigate({ to: "/targets/$id", params: { id: String(saved.id) } });
    },
    onError,
  });
  const busy = replay.isPending || save.isPending;
  const withPolicy = (use: (policy: Policy) => void) => {
    const parsed = policyOf(draft);
    if (!parsed.ok) return refuse(parsed.errors);
    setErrors({});
    if (!busy) use(parsed.policy);
  };
  const tried = replay.data?.targets[0];
  const same = tried && JSON.stringify(policyOf(draft)) === JSON.stringify({ ok: true, policy: tried.proposed.policy });
  useSaid(
    replay.isPending
      ? t("Reading what was measured.")
      : !tried
        ? ""
        : !tried.results_since
          ? t("No checks in this range.")
          : same
            ? verdictOf(tried.current, tried.proposed)
            : t("The rule above has changed since. Try it again."),
  );

  return (
    <>
      <form
        ref={form}
        className="card"
        noValidate
        onSubmit={(event: FormEvent) => {
          event.preventDefault();
          withPolicy(replay.mutate);
        }}
      >
        <div className="rule-fields">
          {errors.form && (
            <div className="banner bad" role="alert" tabIndex={-1}>
              <p>{errors.form}</p>
            </div>
          )}
          <RuleFields draft={draft} errors={errors} onChange={(change) => setDraft((old) => ({ ...old, ...change }))} />
        </div>
        <div className="rule-foot">
          <label className="row">
            <span>{t("Over the last")}</span>
            <select
              className="input"
              value={days}
              onChange={(event) => {
                const asked = event.target.value as (typeof spans)[number];
                void navigate({
                  search: { days: asked === USUAL_DAYS ? undefined : asked },
                  replace: true,
                  resetScroll: false,
                });
              }}
            >
              {spans.map((span) => (
                <option key={span} value={span}>
                  {t("{n, plural, one {# day} other {# days}}", { n: Number(span) })}
                </option>
              ))}
            </select>
          </label>
          {mayEdit && (
            <button type="button" className="btn" disabled={busy} onClick={() => withPolicy(save.mutate)}>
              {t(save.isPending ? "Saving" : "Use this rule")}
            </button>
          )}
          <button type="submit" className="btn primary" disabled={busy}>
            {t(replay.isPending ? "Trying" : "Try it")}
          </button>
        </div>
      </form>
      <section ref={result} className="card" aria-label={t("What it would have told")} tabIndex={-1}>
        {replay.data ? (
          <Comparison replay={replay.data} outdated={!same} />
        ) : (
          <p className="pad muted">
            {t(replay.isPending ? "Reading what was measured." : "Change the rule above and try it on the past.")}
          </p>
        )}
      </section>
    </>
  );
}
