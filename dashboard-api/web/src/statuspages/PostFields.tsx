import type { PostKind, PostState, StatusPage } from "../api/statusPages";
import { Checks } from "../settings/Checks";
import { Choice } from "../targetform/HeartbeatFields";
import { Field } from "../ui/Field";
import type { Problems } from "../ui/problems";
import { t } from "../words/t";
import { componentsOf } from "./draft";
import { impacts, kindWords, type PostDraft, postStateHints, postStates, postStateWords } from "./posts";

export const headFields = ["/title", "/kind", "/impact", "/component_ids"];

/** What a post is about. */
export function PostHeadFields({
  page,
  draft,
  problems,
  onChange,
}: {
  page: StatusPage;
  draft: PostDraft;
  problems: Problems;
  onChange: (change: Partial<PostDraft>) => void;
}) {
  const components = componentsOf(page).map((one) => [one.id, one.name] as const);
  return (
    <>
      <Choice<PostKind>
        label={t("What it is")}
        value={draft.kind}
        options={[
          ["incident", kindWords.incident],
          ["announcement", kindWords.announcement],
        ]}
        onChange={(kind) => onChange({ kind })}
      />
      <Field
        label={t("Title")}
        error={problems["/title"]}
        hint={
          draft.kind === "incident"
            ? t("What readers notice, such as “Payments are slow”.")
            : t("Such as “We move on Sunday”.")
        }
      >
        {(bound) => (
          <input
            {...bound}
            className="input"
            autoComplete="off"
            value={draft.title}
            onChange={(event) => onChange({ title: event.target.value })}
          />
        )}
      </Field>
      <Choice
        label={t("How bad it is")}
        value={draft.impact}
        options={impacts}
        onChange={(impact) => onChange({ impact })}
      />
      {components.length > 0 && (
        <Checks
          label={t("Affects")}
          error={problems["/component_ids"]}
          of={components}
          chosen={draft.components}
          onChange={(chosen) => onChange({ components: chosen })}
        />
      )}
    </>
  );
}

/** Where an incident stands. An announcement goes on, or is over. */
export function StateField({
  kind,
  value,
  onChange,
}: {
  kind: PostKind;
  value: PostState;
  onChange: (state: PostState) => void;
}) {
  if (kind === "announcement") {
    return (
      <Choice<"on" | "over">
        label={t("The announcement")}
        value={value === "resolved" ? "over" : "on"}
        options={[
          ["on", t("Goes on")],
          ["over", t("Is over")],
        ]}
        onChange={(now) => onChange(now === "over" ? "resolved" : "investigating")}
      />
    );
  }
  return (
    <div className="stack">
      <Choice<PostState>
        label={t("Where it stands")}
        value={value}
        options={postStates.map((state) => [state, postStateWords[state]] as const)}
        onChange={onChange}
      />
      <p className="hint muted">{postStateHints[value]}</p>
    </div>
  );
}
