import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useParams } from "@tanstack/react-router";
import { Pencil, Trash2 } from "lucide-react";
import { type FormEvent, lazy, Suspense, useState } from "react";
import { type Post, type PostState, pagesApi, type StatusPage } from "../api/statusPages";
import { useToast } from "../app/toasts";
import { useMayEdit } from "../app/useSelf";
import { Confirm } from "../ui/Confirm";
import { ErrorNote } from "../ui/ErrorNote";
import { FormProblem } from "../ui/FormProblem";
import { briefly, problemsOf } from "../ui/problems";
import { Ago, Clock } from "../ui/time";
import { Unsaved } from "../ui/Unsaved";
import { useProblems } from "../ui/useProblems";
import { Rich } from "../words/Rich";
import { t } from "../words/t";
import { namesOf } from "./draft";
import { MarkdownField, Shown } from "./MarkdownField";
import { OurIncidents } from "./OurIncidents";
import { PageFrame } from "./PageFrame";
import { StateField } from "./PostFields";
import { PostIcon } from "./PostIcon";
import { PAGES } from "./pages";
import { kindWords, postStateWords } from "./posts";
import "../styles/incidents.css";

const PostDialog = lazy(() => import("./PostDialog"));

/** What was told of one thing, and what is told next. */
export function PostPage() {
  return <PageFrame>{(page) => <Loaded page={page} />}</PageFrame>;
}

function Loaded({ page }: { page: StatusPage }) {
  const id = Number(useParams({ strict: false }).post);
  const post = useQuery({
    queryKey: [PAGES, page.id, "posts", id],
    queryFn: () => pagesApi.post(page.id, id),
  });
  if (post.data) return <Details key={id} page={page} post={post.data} />;
  if (post.error) return <ErrorNote error={post.error} onRetry={() => void post.refetch()} />;
  return <div className="skeleton page-skeleton" />;
}

function Details({ page, post }: { page: StatusPage; post: Post }) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const toast = useToast();
  const mayEdit = useMayEdit();
  const [editing, setEditing] = useState(false);
  const [deleting, setDeleting] = useState(false);
  const key = [PAGES, page.id, "posts"];
  const names = namesOf(page, post.component_ids).join(", ");
  const saved = (now: Post) => {
    queries.setQueryData([...key, now.id], now);
    void queries.invalidateQueries({ queryKey: key });
    void queries.invalidateQueries({ queryKey: ["incidents", "one"] }); // the one it tells of, and told of before
  };
  const remove = async () => {
    try {
      await pagesApi.removePost(page.id, post.id);
      toast({ text: t("{name} deleted.", { name: post.title }) });
      await navigate({ to: "/settings/pages/$id/posts", params: { id: String(page.id) }, ignoreBlocker: true });
      queries.removeQueries({ queryKey: [...key, post.id] });
      void queries.invalidateQueries({ queryKey: key });
    } catch (error) {
      toast({ bad: true, text: t("{name} was not deleted: {why}", { name: post.title, why: briefly(error) }) });
    }
  };
  return (
    <>
      <div className="target-head post-head">
        <PostIcon post={post} size={30} />
        <div className="title">
          <h2>{post.title}</h2>
          <p className="verdict">
            <Rich
              text={post.resolved_at ? "<b>{state}</b>, over {when}" : "<b>{state}</b>, since {when}"}
              b={(inner) => <b>{inner}</b>}
              state={post.kind === "incident" ? postStateWords[post.state] : kindWords[post.kind]}
              when={<Ago at={post.resolved_at ?? post.begun_at} bare={!post.resolved_at} />}
            />
            {names && <span className="muted"> · {names}</span>}
          </p>
        </div>
        {mayEdit && (
          <div className="actions">
            <button type="button" className="btn" onClick={() => setEditing(true)}>
              <Pencil size={15} aria-hidden /> {t("Edit")}
            </button>
            <button type="button" className="btn danger" onClick={() => setDeleting(true)}>
              <Trash2 size={15} aria-hidden /> {t("Delete")}
            </button>
          </div>
        )}
      </div>
      <div className="columns-2 post-columns">
        <section className="card" aria-labelledby="updates">
          <div className="card-head">
            <h2 id="updates">{t("Updates")}</h2>
            <span className="muted">{t("the newest first, as on the page")}</span>
          </div>
          <ol className="updates">
            {post.updates.toReversed().map((one) => (
              <li key={one.at} data-state={one.state}>
                <p className="update-at">
                  {(post.kind === "incident" || one.state === "resolved") && <b>{postStateWords[one.state]}</b>}{" "}
                  <span className="muted">
                    <Clock at={one.at} dated />
                  </span>
                </p>
                <Shown text={one.text} />
              </li>
            ))}
          </ol>
        </section>
        <div className="stack">
          {mayEdit && <Say key={post.updates.length} page={page} post={post} onSaid={saved} />}
          <OurIncidents page={page} post={post} />
        </div>
      </div>
      {editing && (
        <Suspense fallback={null}>
          <PostDialog page={page} post={post} onSaved={saved} onClose={() => setEditing(false)} />
        </Suspense>
      )}
      {deleting && (
        <Confirm
          title={t("Delete {name}?", { name: post.title })}
          act={t("Delete it")}
          onClose={() => setDeleting(false)}
          onAct={remove}
        >
          {t(
            "It goes from the page, its history and its feeds, with {n, plural, one {# update} other {# updates}}. Readers who saw it are not told. If it is only over, resolve it instead. This cannot be undone.",
            { n: post.updates.length },
          )}
        </Confirm>
      )}
    </>
  );
}

/** The next thing to tell. What was said stays as it was. */
function Say({ page, post, onSaid }: { page: StatusPage; post: Post; onSaid: (post: Post) => void }) {
  const toast = useToast();
  const { form, problems, refuse } = useProblems();
  const [state, setState] = useState<PostState>(post.state);
  const [text, setText] = useState("");
  const save = useMutation({
    mutationFn: () => pagesApi.say(page.id, post.id, { state, text: text.trim() }),
    onSuccess: (now) => {
      onSaid(now);
      toast({
        text:
          state === "resolved" ? t("{name} is resolved.", { name: post.title }) : t("Told: the page shows the update."),
      });
    },
    onError: (error) => refuse(problemsOf(error, ["/state", "/text"])),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!text.trim()) return refuse({ "/text": t("Say what is new.") });
    refuse({});
    if (!save.isPending) save.mutate();
  };
  return (
    <section className="card" aria-labelledby="say">
      <div className="card-head">
        <h2 id="say">{post.resolved_at ? t("It goes on after all?") : t("Tell what is new")}</h2>
      </div>
      <form ref={form} onSubmit={submit} noValidate className="pad stack post-form">
        <FormProblem problems={problems} />
        <StateField kind={post.kind} value={state} onChange={setState} />
        <MarkdownField label={t("Update")} value={text} error={problems["/text"]} onChange={setText} />
        <button type="submit" className="btn primary" disabled={save.isPending}>
          {save.isPending ? t("Posting") : t("Post update")}
        </button>
      </form>
      <Unsaved
        when={text.trim() !== "" && !save.isSuccess}
        what={t("The update that you wrote was not posted, and would be lost.")}
      />
    </section>
  );
}
