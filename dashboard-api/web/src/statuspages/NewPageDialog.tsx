import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { pagesApi } from "../api/statusPages";
import { useToast } from "../app/toasts";
import { ownZone } from "../targetform/zones";
import { DialogForm } from "../ui/DialogForm";
import { Field } from "../ui/Field";
import { type Problems, problemsOf } from "../ui/problems";
import { useProblems } from "../ui/useProblems";
import { t } from "../words/t";
import { slugOf } from "./draft";
import { pathOf, usePageSaved } from "./pages";

/** Makes a draft of a page: the rest is said in its editor. */
export default function NewPageDialog({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate();
  const toast = useToast();
  const saved = usePageSaved();
  const { form, problems, refuse } = useProblems();
  const [title, setTitle] = useState("");
  const [own, setOwn] = useState<string | null>(null); // null: that of the name
  const slug = own ?? slugOf(title);
  const save = useMutation({
    mutationFn: () => pagesApi.create({ title: title.trim(), slug: slug.trim(), zone: ownZone() }),
    onSuccess: (page) => {
      saved(page);
      toast({ text: t("{name} added as a draft. Add its components, then publish it.", { name: page.title }) });
      onClose();
      void navigate({ to: "/settings/pages/$id", params: { id: String(page.id) } });
    },
    onError: (error) => refuse(problemsOf(error, ["/title", "/slug"])),
  });
  const submit = () => {
    const found: Problems = {};
    if (title.trim() === "") found["/title"] = t("Give it a name, such as “Acme status”.");
    else if (slug.trim() === "") found["/slug"] = t("Needed: it is the end of the page's address.");
    if (Object.keys(found).length > 0) return refuse(found);
    refuse({});
    save.mutate();
  };
  return (
    <DialogForm
      title={t("Add status page")}
      form={form}
      problems={problems}
      busy={save.isPending}
      act={t("Add as a draft")}
      acting={t("Saving")}
      onSubmit={submit}
      onClose={onClose}
    >
      <Field label={t("Name")} error={problems["/title"]} hint={t("Stands at its top.")}>
        {(bound) => (
          <input
            {...bound}
            className="input"
            autoComplete="off"
            placeholder={t("Acme status")}
            value={title}
            onChange={(event) => setTitle(event.target.value)}
          />
        )}
      </Field>
      <Field
        label={t("Address")}
        error={problems["/slug"]}
        hint={t("It will be at {address}, once it is published.", {
          address: `${location.origin}${pathOf({ slug: slug || "…" })}`,
        })}
      >
        {(bound) => (
          <input
            {...bound}
            className="input mono"
            autoComplete="off"
            spellCheck={false}
            value={slug}
            onChange={(event) => setOwn(event.target.value)}
          />
        )}
      </Field>
    </DialogForm>
  );
}
