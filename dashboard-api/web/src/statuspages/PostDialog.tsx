import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { type Post, pagesApi, type StatusPage } from "../api/statusPages";
import { useToast } from "../app/toasts";
import { Dialog } from "../ui/Dialog";
import { FormProblem } from "../ui/FormProblem";
import { problemsOf } from "../ui/problems";
import { useProblems } from "../ui/useProblems";
import { headFields, PostHeadFields } from "./PostFields";
import { draftOfPost, headOf } from "./posts";
import "../styles/dialog.css";

/** Changes what a post is about; its updates stay. */
export default function PostDialog({
  page,
  post,
  onSaved,
  onClose,
}: {
  page: StatusPage;
  post: Post;
  onSaved: (post: Post) => void;
  onClose: () => void;
}) {
  const toast = useToast();
  const { form, problems, refuse } = useProblems();
  const [draft, setDraft] = useState(() => draftOfPost(post));
  const save = useMutation({
    mutationFn: () => pagesApi.updatePost(page.id, post.id, headOf(draft), post.version),
    onSuccess: (now) => {
      onSaved(now);
      toast({ text: `${now.title} saved.` });
      onClose();
    },
    onError: (error) => refuse(problemsOf(error, headFields, "Somebody else changed this post.")),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!draft.title.trim()) return refuse({ "/title": "Say in a few words what it is about." });
    refuse({});
    if (!save.isPending) save.mutate();
  };
  return (
    <Dialog title="Edit post" onClose={onClose}>
      <form ref={form} onSubmit={submit} noValidate>
        <div className="dialog-body post-form">
          <FormProblem problems={problems} />
          <PostHeadFields
            page={page}
            draft={draft}
            problems={problems}
            onChange={(change) => setDraft((old) => ({ ...old, ...change }))}
          />
          <p className="hint muted">What was said in updates stays as it was: add one that says otherwise.</p>
        </div>
        <div className="dialog-foot">
          <button type="button" className="btn" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" className="btn primary" disabled={save.isPending}>
            {save.isPending ? "Saving" : "Save changes"}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
