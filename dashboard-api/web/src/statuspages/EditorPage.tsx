import { useMutation, useQuery } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import { type FormEvent, useEffect, useMemo, useRef, useState } from "react";
import { ApiError } from "../api/client";
import { pagesApi, type StatusPage, tagOf } from "../api/statusPages";
import { useList, useLive } from "../app/live";
import { useToast } from "../app/toasts";
import { useSaid } from "../app/useSaid";
import { useMayEdit } from "../app/useSelf";
import { KnownPage } from "../known/KnownPage";
import { AskPage } from "../known/ways";
import { FormProblem } from "../ui/FormProblem";
import { problemsOf } from "../ui/problems";
import { Unsaved } from "../ui/Unsaved";
import { useProblems } from "../ui/useProblems";
import { t } from "../words/t";
import { changesOf, draftOf, fieldsOf, isEmpty, mistakesOf, type PageDraft } from "./draft";
import { Access, Basics, Look } from "./EditorFields";
import { boundTo, stateOf } from "./fold";
import { Groups } from "./Groups";
import { PageFrame } from "./PageFrame";
import { PagePreview, type Preview } from "./PagePreview";
import { PAGES, usePageSaved } from "./pages";
import { Subscriptions } from "./Subscriptions";
import "../styles/dialog.css";

/** What a status page shows, beside a picture of it. */
export function EditorPage() {
  const { at } = useSearch({ from: "/app/settings/pages/$id" });
  return (
    <PageFrame>
      {(page) =>
        at === undefined ? (
          <>
            <AskPage id={page.id} />
            <Editor key={page.id} page={page} />
          </>
        ) : (
          <KnownPage id={page.id} at={at} />
        )
      }
    </PageFrame>
  );
}

function Editor({ page }: { page: StatusPage }) {
  const mayEdit = useMayEdit();
  const toast = useToast();
  const saved = usePageSaved();
  const { form, problems, refuse } = useProblems();
  const [base, setBase] = useState(page);
  const [draft, setDraft] = useState(() => draftOf(page));
  const [stale, setStale] = useState(false);
  const change = (next: Partial<PageDraft>) => setDraft((old) => ({ ...old, ...next }));
  const changes = useMemo(() => changesOf(draft, base), [draft, base]);
  const dirty = !isEmpty(changes);
  const standing = dirty ? t("There are unsaved changes.") : t("Everything is saved.");
  const edited = useRef(false); // before that nobody asks
  edited.current ||= dirty;
  useSaid(edited.current ? standing : "");

  const adopt = (now: StatusPage) => {
    setBase(now);
    setDraft(draftOf(now));
    setStale(false);
    refuse({});
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: only another version matters
  useEffect(() => {
    if (tagOf(page) === tagOf(base)) return;
    if (isEmpty(changesOf(draftOf(page), base)))
      setBase(page); // it was published, or the like
    else if (!dirty) adopt(page);
  }, [page]);

  const save = useMutation({
    mutationFn: () => pagesApi.update(base.id, changes, tagOf(base)),
    onSuccess: (now) => {
      saved(now);
      adopt(now);
      toast({
        text: now.published ? t("Saved. The page shows it.") : t("Saved. Nobody sees it until it is published."),
      });
    },
    onError: (error) => {
      setStale(error instanceof ApiError && error.status === 412);
      refuse(problemsOf(error, fieldsOf(draft)));
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const found = mistakesOf(draft);
    if (!isEmpty(found)) return refuse(found);
    refuse({});
    if (dirty && !save.isPending) save.mutate();
  };
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "s") return;
      event.preventDefault();
      if (!document.querySelector("dialog[open]")) form.current?.requestSubmit();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, [form]);

  const preview = <PreviewCard page={page} draft={draft} />;
  if (!mayEdit) return preview;
  return (
    <div className="editor">
      <form ref={form} onSubmit={submit} noValidate className="editor-form" autoComplete="off">
        {stale ? (
          <div className="banner bad" role="alert" tabIndex={-1}>
            <div className="stack">
              <p>
                {t(
                  "Somebody else changed this page, or a target that it shows was deleted, since you opened it. Your changes are still here, but cannot be saved over theirs.",
                )}
              </p>
              <button type="button" className="btn" onClick={() => void pagesApi.get(base.id).then(takeTheirs)}>
                {t("Take theirs, and leave mine")}
              </button>
            </div>
          </div>
        ) : (
          <FormProblem problems={problems} />
        )}
        <Basics draft={draft} problems={problems} onChange={change} />
        <Groups groups={draft.groups} problems={problems} onChange={(groups) => change({ groups })} />
        <Look draft={draft} problems={problems} onChange={change} />
        <Access draft={draft} problems={problems} onChange={change} />
        <Subscriptions page={base} draft={draft} onChange={change} />
        <div className="save-bar" data-dirty={dirty || undefined}>
          <p>{standing}</p>
          <button type="button" className="btn" disabled={!dirty || save.isPending} onClick={() => adopt(base)}>
            {t("Discard")}
          </button>
          <button type="submit" className="btn primary" disabled={!dirty || save.isPending}>
            {save.isPending ? t("Saving") : t("Save changes")}
          </button>
        </div>
      </form>
      {preview}
      <Unsaved when={dirty} what={t("What you changed of this page is not saved, and would be lost.")} />
    </div>
  );

  function takeTheirs(now: StatusPage) {
    saved(now);
    adopt(now);
  }
}

const themes = [
  ["light", t("Light")],
  ["dark", t("Dark")],
] as const;

function PreviewCard({ page, draft }: { page: StatusPage; draft: PageDraft }) {
  const { store } = useLive();
  const { version } = useList();
  const posts = useQuery({ queryKey: [PAGES, page.id, "posts", "open"], queryFn: () => pagesApi.posts(page.id) });
  const [theme, setTheme] = useState<"light" | "dark" | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the store changes with its version
  const of: Preview = useMemo(
    () => ({
      title: draft.title,
      description: draft.description,
      language: draft.language,
      accent: draft.accent,
      accentDark: draft.accentDark,
      groups: draft.groups.map((group) => ({
        key: group.key,
        name: group.name,
        lines: group.components.map((one) => ({
          key: one.key,
          name: one.name,
          description: one.description,
          state: stateOf({ ...one, targets: boundTo(one, store.all()) }, (id) => store.get(id)?.state),
          manual: one.rule === "manual",
        })),
      })),
      posts: (posts.data?.items ?? [])
        .filter((post) => post.resolved_at === null)
        .map(({ id, title, state, kind }) => ({ id, title, state, announcement: kind === "announcement" })),
    }),
    [draft, posts.data, store, version],
  );
  const shown = theme ?? draft.theme;
  return (
    <section className="card preview" aria-labelledby="preview">
      <div className="card-head">
        <h2 id="preview">{t("Preview")}</h2>
        {/* biome-ignore lint/a11y/useSemanticElements: a row of toggles, not a form */}
        <div className="segments push" role="group" aria-label={t("Theme of the preview")}>
          {themes.map(([value, label]) => (
            <button
              key={value}
              type="button"
              aria-pressed={shown === value}
              onClick={() => setTheme(theme === value ? null : value)}
            >
              {label}
            </button>
          ))}
        </div>
      </div>
      <PagePreview of={of} theme={shown} />
      <p className="pad muted preview-note">
        {t("With the states of this moment. 90 days of each component take the place of the grey bars.")}
      </p>
    </section>
  );
}
