import { useQuery } from "@tanstack/react-query";
import { incidentApi } from "../api/incidents";
import type { Post, StatusPage } from "../api/statusPages";
import { useZone } from "../app/preferences";
import { Field } from "../ui/Field";
import { briefly } from "../ui/problems";
import { t } from "../words/t";
import { targetsOf } from "./draft";
import { lineOf, tellable } from "./posts";

const BEFORE_MS = 86_400_000; // some are told of when they are over
const MOST = 200; // that the API gives at once, the newest

/** Says which incident of ours a post tells of: one of its time, or none. */
export function IncidentField({
  page,
  post,
  value,
  error,
  onChange,
}: {
  page: StatusPage;
  post: Post;
  value: number | null;
  error: string | undefined;
  onChange: (incident: number | null) => void;
}) {
  const [zone] = useZone();
  const { incident_id } = post;
  const own = useQuery({
    queryKey: ["incidents", "one", incident_id],
    queryFn: () => incidentApi.get(incident_id ?? 0),
    enabled: incident_id !== null,
  });
  const found = useQuery({
    queryKey: ["incidents", "post", post.id],
    queryFn: () =>
      incidentApi.list({
        from: new Date(Date.parse(post.begun_at) - BEFORE_MS).toISOString(),
        ...(post.resolved_at ? { to: post.resolved_at } : {}),
        limit: MOST,
      }),
  });
  const choices = tellable(own.data, found.data?.items ?? [], targetsOf(page, post.component_ids));
  return (
    <IncidentChoice
      choices={choices.map((one) => [one.id, lineOf(one, zone)])}
      value={value}
      error={error ?? (found.error ? briefly(found.error) : undefined)}
      onChange={onChange}
    />
  );
}

/** The same, of incidents that are given. */
export function IncidentChoice({
  choices,
  value,
  error,
  onChange,
}: {
  choices: readonly (readonly [id: number, line: string])[];
  value: number | null;
  error: string | undefined;
  onChange: (incident: number | null) => void;
}) {
  const missing = value !== null && choices.every(([id]) => id !== value); // not read yet
  return (
    <Field
      label={t("The incident it tells of")}
      error={error}
      hint={t("Its timeline has what this post tells. Readers do not learn of it.")}
    >
      {(bound) => (
        <select
          {...bound}
          className="input"
          value={value ?? ""}
          onChange={(event) => onChange(Number(event.target.value) || null)}
        >
          <option value="">{t("No incident")}</option>
          {missing && <option value={value}>{t("Incident {id}", { id: value })}</option>}
          {choices.map(([id, line]) => (
            <option key={id} value={id}>
              {line}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}
