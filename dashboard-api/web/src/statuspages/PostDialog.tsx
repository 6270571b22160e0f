import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { type Post, pagesApi, type StatusPage } from "../api/statusPages";
import { useToast } from "../app/toasts";
import { DialogForm } from "../ui/DialogForm";
import { problemsOf } from "../ui/problems";
import { useProblems } from "../ui/useProblems";
import { t } from "../words/t";
import { IncidentField } from "./IncidentField";
import { headFields, PostHeadFields } from "./PostFields";
import { draftOfPost, headOf } from "./posts";

/** Changes what a post is about, and of which incident it tells; its updates stay. */
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
  const [incident, setIncident] = useState(post.incident_id);
  const save = useMutation({
    mutationFn: () => pagesApi.updatePost(page.id, post.id, { ...headOf(draft), incident_id: incident }, post.version),
    onSuccess: (now) => {
      onSaved(now);
      toast({ text: t("{name} saved.", { name: now.title }) });
      onClose();
    },
    onError: (error) =>
      refuse(problemsOf(error, [...headFields, "/incident_id"], t("Somebody else changed this post."))),
  });
  const submit = () => {
    if (!draft.title.trim()) return refuse({ "/title": t("Say in a few words what it is about.") });
    refuse({});
    save.mutate();
  };
  return (
    <DialogForm
      title={t("Edit post")}
      form={form}
      problems={problems}
      busy={save.isPending}
      act={t("Save changes")}
      acting={t("Saving")}
      className="post-form"
      onSubmit={submit}
      onClose={onClose}
    >
      <PostHeadFields
        page={page}
        draft={draft}
        problems={problems}
        onChange={(change) => setDraft((old) => ({ ...old, ...change }))}
      />
      <IncidentField page={page} post={post} value={incident} error={problems["/incident_id"]} onChange={setIncident} />
      <p className="hint muted">{t("What was said in updates stays as it was: add one that says otherwise.")}</p>
    </DialogForm>
  );
}
