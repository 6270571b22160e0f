import { useMutation, useQueryClient } from "@tanstack/react-query";
import { UserRoundCheck } from "lucide-react";
import { type FormEvent, useState } from "react";
import { type IncidentDetail, incidentApi } from "../api/incidents";
import { useToast } from "../app/toasts";
import { useMayEdit } from "../app/useSelf";
import { Field } from "../ui/Field";
import { FormProblem } from "../ui/FormProblem";
import { problemsOf } from "../ui/problems";
import { useProblems } from "../ui/useProblems";
import { t } from "../words/t";

/** Say that somebody looks after it, or what is known of it. */
export function IncidentActions({ incident }: { incident: IncidentDetail }) {
  const queries = useQueryClient();
  const toast = useToast();
  const { form, problems, refuse } = useProblems();
  const [text, setText] = useState("");
  const mayEdit = useMayEdit();
  const done = (said: string) => {
    setText("");
    refuse({});
    toast({ text: said });
    void queries.invalidateQueries({ queryKey: ["incidents"] });
  };
  const onError = (error: unknown) => refuse(problemsOf(error, ["/text"]));
  const acknowledge = useMutation({
    mutationFn: () => incidentApi.acknowledge(incident.id, text.trim()),
    onSuccess: () => done(t("Acknowledged. Nobody is reminded any more.")),
    onError,
  });
  const note = useMutation({
    mutationFn: () => incidentApi.note(incident.id, text.trim()),
    onSuccess: () => done(t("Note added.")),
    onError,
  });
  const busy = acknowledge.isPending || note.isPending;
  if (!mayEdit) return null;
  return (
    <section className="card screen-only" aria-labelledby="say">
      <div className="card-head">
        <h2 id="say">{t(incident.state === "open" ? "Look after it" : "Add a note")}</h2>
      </div>
      <form
        ref={form}
        className="pad stack"
        noValidate
        onSubmit={(event: FormEvent) => {
          event.preventDefault();
          if (!busy) note.mutate();
        }}
      >
        <FormProblem problems={problems} />
        <Field label={t("Note")} error={problems["/text"]} hint={t("Stays in the timeline, with your name.")}>
          {(bound) => (
            <textarea
              {...bound}
              className="input"
              rows={4}
              value={text}
              onChange={(event) => setText(event.target.value)}
            />
          )}
        </Field>
        <div className="row wrap">
          {incident.state === "open" && (
            <button type="button" className="btn primary" disabled={busy} onClick={() => acknowledge.mutate()}>
              <UserRoundCheck size={16} aria-hidden /> {t("Acknowledge")}
            </button>
          )}
          <button type="submit" className="btn" disabled={busy}>
            {t("Add note")}
          </button>
        </div>
        {incident.state === "open" && (
          <p className="hint muted">{t("Acknowledging ends reminders and escalations; it does not resolve.")}</p>
        )}
      </form>
    </section>
  );
}
