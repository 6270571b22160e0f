import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { type FormEvent, useEffect, useState } from "react";
import { type Incident, incidentApi } from "../api/incidents";
import { pagesApi, type StatusPage } from "../api/statusPages";
import { useToast } from "../app/toasts";
import { useAffected } from "../incidents/useAffected";
import { FormProblem } from "../ui/FormProblem";
import { type Problems, problemsOf } from "../ui/problems";
import { Unsaved } from "../ui/Unsaved";
import { useProblems } from "../ui/useProblems";
import { Rich } from "../words/Rich";
import { t } from "../words/t";
import { MarkdownField } from "./MarkdownField";
import { PageFrame } from "./PageFrame";
import { headFields, PostHeadFields, StateField } from "./PostFields";
import { PAGES } from "./pages";
import { emptyPost, fromIncident, headOf, type PostDraft } from "./posts";
import "../styles/dialog.css";

/** Tells readers of something for the first time. */
export function NewPostPage() {
  const { incident } = useSearch({ strict: false });
  const ours = useQuery({
    queryKey: ["incidents", "one", Number(incident)],
    queryFn: () => incidentApi.get(Number(incident)),
    enabled: incident !== undefined,
  });
  const affected = useAffected(ours.data ?? null);
  const asking = ours.data ? affected === null : incident !== undefined && ours.isPending;
  return (
    <PageFrame>
      {(page) =>
        asking ? (
          <div className="skeleton page-skeleton" />
        ) : (
          <NewPost page={page} incident={ours.data ?? null} affected={affected ?? []} />
        )
      }
    </PageFrame>
  );
}

function NewPost({
  page,
  incident,
  affected,
}: {
  page: StatusPage;
  incident: Incident | null;
  affected: readonly number[];
}) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const toast = useToast();
  const { form, problems, refuse } = useProblems();
  const [start] = useState(() => (incident ? fromIncident(page, affected, incident.severity) : emptyPost));
  const [draft, setDraft] = useState<PostDraft>(start);
  const [made, setMade] = useState(0);
  const change = (next: Partial<PostDraft>) => setDraft((old) => ({ ...old, ...next }));
  const save = useMutation({
    mutationFn: () => {
      const said = { ...headOf(draft), state: draft.state, text: draft.text.trim() };
      return pagesApi.createPost(page.id, incident ? { ...said, incident_id: incident.id } : said);
    },
    onSuccess: (post) => {
      queries.setQueryData([PAGES, page.id, "posts", post.id], post);
      void queries.invalidateQueries({ queryKey: [PAGES, page.id, "posts"] });
      if (incident) void queries.invalidateQueries({ queryKey: ["incidents", "one", incident.id] });
      toast({
        text: page.published ? t("Posted: the page shows it.") : t("Posted. Nobody sees it: the page is a draft."),
      });
      setMade(post.id);
    },
    onError: (error) => refuse(problemsOf(error, [...headFields, "/state", "/text"])),
  });
  useEffect(() => {
    if (made === 0) return;
    const params = { id: String(page.id), post: String(made) };
    void navigate({ to: "/settings/pages/$id/posts/$post", params, replace: true, ignoreBlocker: true });
  }, [made, navigate, page.id]);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const found: Problems = {};
    if (!draft.title.trim()) found["/title"] = t("Say in a few words what it is about.");
    if (!draft.text.trim()) found["/text"] = t("Say what you know, and when you will say more.");
    if (Object.keys(found).length > 0) return refuse(found);
    refuse({});
    if (!save.isPending) save.mutate();
  };
  const dirty = made === 0 && JSON.stringify(draft) !== JSON.stringify(start);
  return (
    <section className="card narrow" aria-labelledby="post">
      <div className="card-head">
        <h2 id="post">{t("New post")}</h2>
        <span className="muted">{t("Readers who have the page open see it at once.")}</span>
      </div>
      <form ref={form} onSubmit={submit} noValidate className="pad stack post-form">
        <FormProblem problems={problems} />
        {!page.published && (
          <div className="banner warn">
            <p>{t("This page is a draft: nobody sees what you post until it is published.")}</p>
          </div>
        )}
        {incident && (
          <p className="muted">
            <Rich
              text="From the incident of <a>{name}</a>, whose timeline it will be in. Readers see only what you write here."
              name={incident.target.name}
              a={(inner) => (
                <Link className="link" to="/incidents/$id" params={{ id: String(incident.id) }}>
                  {inner}
                </Link>
              )}
            />
          </p>
        )}
        <PostHeadFields page={page} draft={draft} problems={problems} onChange={change} />
        {draft.impact === "maintenance" && (
          <p className="hint muted">
            <Rich
              text="Maintenance that is planned under <a>Maintenance</a> is announced on the page by itself, two weeks ahead."
              a={(inner) => (
                <Link className="link" to="/maintenance">
                  {inner}
                </Link>
              )}
            />
          </p>
        )}
        {draft.kind === "incident" && (
          <StateField kind={draft.kind} value={draft.state} onChange={(state) => change({ state })} />
        )}
        <MarkdownField
          label={t("What you tell")}
          value={draft.text}
          error={problems["/text"]}
          onChange={(text) => change({ text })}
        />
        <div className="row wrap">
          <button type="submit" className="btn primary" disabled={save.isPending}>
            {save.isPending ? t("Posting") : t("Post")}
          </button>
          <Link to="/settings/pages/$id/posts" params={{ id: String(page.id) }} className="btn">
            {t("Cancel")}
          </Link>
        </div>
      </form>
      <Unsaved when={dirty} what={t("What you wrote was not posted, and would be lost.")} />
    </section>
  );
}
