import { useInfiniteQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { Megaphone, Plus } from "lucide-react";
import { type Post, pagesApi, type StatusPage } from "../api/statusPages";
import { useKeys } from "../app/keys";
import { useMayEdit } from "../app/useSelf";
import { ErrorNote } from "../ui/ErrorNote";
import { Older } from "../ui/Older";
import { Ago, Clock } from "../ui/time";
import { Rich } from "../words/Rich";
import { t } from "../words/t";
import { namesOf } from "./draft";
import { PageFrame } from "./PageFrame";
import { PostIcon } from "./PostIcon";
import { PAGES } from "./pages";
import { kindWords, postStateWords } from "./posts";
import "../styles/incidents.css";

/** What was told on a page, the newest first. */
export function PostsPage() {
  return <PageFrame>{(page) => <Posts page={page} />}</PageFrame>;
}

function Posts({ page }: { page: StatusPage }) {
  const mayEdit = useMayEdit();
  const navigate = useNavigate();
  const id = String(page.id);
  const add = () => void navigate({ to: "/settings/pages/$id/posts/new", params: { id } });
  useKeys(mayEdit ? { c: add } : {});
  const list = useInfiniteQuery({
    queryKey: [PAGES, page.id, "posts"],
    queryFn: ({ pageParam }) => pagesApi.posts(page.id, pageParam),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next_cursor,
  });
  const all = list.data?.pages.flatMap((one) => one.items) ?? [];
  const open = all.filter((post) => post.resolved_at === null);
  const past = all.filter((post) => post.resolved_at !== null);
  return (
    <>
      {mayEdit && all.length > 0 && (
        <div className="toolbar">
          <button type="button" className="btn primary" onClick={add}>
            <Plus size={16} aria-hidden /> {t("New post")}
          </button>
        </div>
      )}
      {list.error && !list.data && <ErrorNote error={list.error} onRetry={() => void list.refetch()} />}
      {list.isPending && <div className="skeleton page-skeleton" />}
      {list.data && all.length === 0 && (
        <div className="card empty">
          <Megaphone size={28} aria-hidden className="muted" />
          <h2>{t("Nothing was told yet")}</h2>
          <p>
            {t(
              "When something breaks, say what you know, then what you find, until it is resolved. Readers who have the page open see each update at once; feeds carry it to the others.",
            )}
          </p>
          {mayEdit && (
            <div className="actions">
              <button type="button" className="btn primary" onClick={add}>
                <Plus size={16} aria-hidden /> {t("New post")}
              </button>
            </div>
          )}
        </div>
      )}
      <PostList title={t("Going on")} page={page} posts={open} />
      <PostList title={t("Over")} page={page} posts={past} />
      <Older of={list} />
    </>
  );
}

function PostList({ title, page, posts }: { title: string; page: StatusPage; posts: Post[] }) {
  if (posts.length === 0) return null;
  return (
    <section className="card" aria-label={title}>
      <div className="card-head">
        <h2>{title}</h2>
      </div>
      <ul>
        {posts.map((post) => (
          <li key={post.id} className="incident">
            <PostIcon post={post} size={22} />
            <div>
              <Link
                to="/settings/pages/$id/posts/$post"
                params={{ id: String(page.id), post: String(post.id) }}
                className="incident-link"
              >
                {post.title}
              </Link>
              <p className="incident-why">{namesOf(page, post.component_ids).join(", ")}</p>
              <p className="incident-meta">
                <span className="word">
                  {post.kind === "incident" ? postStateWords[post.state] : kindWords[post.kind]}
                </span>
                <span>{t("{n, plural, one {# update} other {# updates}}", { n: post.updates.length })}</span>
              </p>
            </div>
            <div className="incident-when">
              <Ago at={post.updates.at(-1)?.at ?? post.begun_at} />
              <p className="muted">
                <Rich text="since {when}" when={<Clock at={post.begun_at} dated />} />
              </p>
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}
