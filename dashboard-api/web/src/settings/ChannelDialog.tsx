import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { alertApi, type Channel, type ChannelKind } from "../api/alerts";
import { useToast } from "../app/toasts";
import { DialogForm } from "../ui/DialogForm";
import { Field } from "../ui/Field";
import { type Problems, problemsOf } from "../ui/problems";
import { useChanged } from "../ui/useChanged";
import { useProblems } from "../ui/useProblems";
import { t } from "../words/t";
import { kindNames, kinds, pointersOf, settingsOf, type Values, valuesOf } from "./kinds";
import { SettingInput } from "./SettingInput";

/** Adds a channel, or changes one. */
export default function ChannelDialog({ channel, onClose }: { channel: Channel | null; onClose: () => void }) {
  const queries = useQueryClient();
  const toast = useToast();
  const navigate = useNavigate();
  const { form, problems, refuse } = useProblems();
  const [before] = useState(() => (channel ? valuesOf(channel) : { values: {}, kept: new Set<string>() }));
  const [kind, setKind] = useState<ChannelKind>(channel?.kind ?? "email");
  const [name, setName] = useState(channel?.name ?? "");
  const [values, setValues] = useState<Values>(before.values);
  const [cleared, setCleared] = useState<ReadonlySet<string>>(new Set());
  const entered = useChanged([kind, name, values, [...cleared]]);
  const kept = new Set([...before.kept].filter((field) => !cleared.has(field)));

  const save = useMutation({
    mutationFn: () => {
      const body = { name: name.trim(), [kind]: settingsOf(kind, values, kept).settings };
      return channel ? alertApi.updateChannel(channel.id, body, channel.version) : alertApi.createChannel(body);
    },
    onSuccess: (saved) => {
      void queries.invalidateQueries({ queryKey: ["channels"] });
      toast({
        text: channel
          ? t("{name} saved.", { name: saved.name })
          : t("{name} added. Send it a test.", { name: saved.name }),
      });
      onClose();
      if (!channel) void navigate({ to: "/settings/channels/$id", params: { id: String(saved.id) } });
    },
    onError: (error) => refuse(problemsOf(error, pointersOf(kind), t("Somebody else changed this channel."))),
  });
  const submit = () => {
    const found: Problems = { ...settingsOf(kind, values, kept).problems };
    if (name.trim() === "") found["/name"] = t("Give it a name, such as “On-call mail”.");
    if (Object.keys(found).length > 0) return refuse(found);
    refuse({});
    save.mutate();
  };

  return (
    <DialogForm
      title={channel ? t("Edit channel") : t("Add channel")}
      form={form}
      problems={problems}
      busy={save.isPending}
      act={channel ? t("Save changes") : t("Add channel")}
      acting={t("Saving")}
      entered={entered}
      onSubmit={submit}
      onClose={onClose}
    >
      <Field label={t("Name")} error={problems["/name"]}>
        {(bound) => (
          <input
            {...bound}
            className="input"
            autoComplete="off"
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
        )}
      </Field>
      <Field
        label={t("Kind")}
        error={problems["/kind"]}
        hint={channel ? t("Add another channel for another kind.") : undefined}
      >
        {(bound) => (
          <select
            {...bound}
            className="input"
            disabled={channel !== null}
            value={kind}
            onChange={(event) => {
              setKind(event.target.value as ChannelKind);
              refuse({});
            }}
          >
            {kindNames.map((one) => (
              <option key={one} value={one}>
                {kinds[one].label}
              </option>
            ))}
          </select>
        )}
      </Field>
      {kinds[kind].fields.map((field) => (
        <SettingInput
          key={`${kind} ${field.name}`}
          field={field}
          value={values[field.name] ?? ""}
          kept={kept.has(field.name)}
          error={problems[`/${kind}/${field.name}`]}
          onChange={(value) => setValues((old) => ({ ...old, [field.name]: value }))}
          onClear={() => setCleared((old) => new Set(old).add(field.name))}
        />
      ))}
    </DialogForm>
  );
}
