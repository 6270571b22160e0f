import { useInfiniteQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { Download, ScrollText, X } from "lucide-react";
import { useCallback, useMemo } from "react";
import { type AuditEntry, accountApi } from "../api/accounts";
import { useLive } from "../app/live";
import type { AuditSearch } from "../app/router";
import { csvOf } from "../target/csv";
import { download } from "../ui/download";
import { ErrorNote } from "../ui/ErrorNote";
import { TargetPicker } from "../ui/TargetPicker";
import { Ago, Clock } from "../ui/time";
import { actions, objectName, placeOf, tell } from "./auditWords";
import { OwnersOnly } from "./OwnersOnly";
import { actorName, useApiKeys, useMembers } from "./people";
import { nameOf } from "./roles";
import { SettingsTabs } from "./SettingsTabs";
import "../styles/settings.css";
import "../styles/people.css";
import { Older } from "../ui/Older";
import "../styles/dialog.css";
import { t } from "../words/t";

const PAGE = 50;

/** Who changed what, the newest first. */
export function AuditPage() {
  return (
    <div className="page">
      <div className="page-head">
        <div>
          <h1>{t("Audit log")}</h1>
          <p className="muted">{t("Who changed what, and from where. Nobody can edit it.")}</p>
        </div>
      </div>
      <SettingsTabs />
      <OwnersOnly>
        <Log />
      </OwnersOnly>
    </div>
  );
}

/** The names of people, keys and targets, as far as they are still there. */
function useNames() {
  const { store } = useLive();
  const people = useMembers().data;
  const keys = useApiKeys().data;
  const known = useCallback(
    (object: string): string | undefined => {
      const [kind, number] = object.split(":");
      const id = Number(number);
      if (kind === "target") return store.get(id)?.name;
      if (kind === "key") return keys?.find((one) => one.id === id)?.name;
      const person = kind === "user" ? people?.find((one) => one.id === id) : undefined;
      return person && nameOf(person);
    },
    [store, people, keys],
  );
  return { people: people ?? [], keys: keys ?? [], known };
}

function Log() {
  const search = useSearch({ from: "/app/settings/audit" });
  const navigate = useNavigate({ from: "/settings/audit" });
  const names = useNames();
  const log = useInfiniteQuery({
    queryKey: ["audit", search],
    queryFn: ({ pageParam }) => accountApi.audit(search, PAGE, pageParam),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next_cursor,
  });
  const change = (next: AuditSearch) => void navigate({ search: (old) => ({ ...old, ...next }), replace: true });
  const entries = useMemo(() => log.data?.pages.flatMap((page) => page.items), [log.data]);
  const filtered = Boolean(search.actor || search.action || search.object);
  return (
    <>
      <Filters search={search} names={names} onChange={change} />
      <section className="card" aria-labelledby="entries">
        <div className="card-head">
          <h2 id="entries">{filtered ? t("Matching entries") : t("Entries")}</h2>
          <button
            type="button"
            className="btn push"
            disabled={!entries?.length}
            title={t("What is shown, as a file")}
            onClick={() => entries && download("probefleet-audit-log.csv", auditCsv(entries))}
          >
            <Download size={15} aria-hidden /> {t("CSV")}
          </button>
        </div>
        {log.error && !entries && <ErrorNote error={log.error} onRetry={() => void log.refetch()} />}
        {!entries && !log.error && <div className="skeleton audit-skeleton" />}
        {entries?.length === 0 && (
          <div className="empty">
            <ScrollText size={28} aria-hidden className="muted" />
            <h2>{filtered ? t("Nothing matches") : t("Nothing was changed yet")}</h2>
            <p>
              {filtered
                ? t("Nothing of the kind was done, or it was done by somebody else.")
                : t("Every change to targets, people, keys and rules is written down here, with who made it.")}
            </p>
            {filtered && (
              <div className="actions">
                <button
                  type="button"
                  className="btn"
                  onClick={() => change({ actor: undefined, action: undefined, object: undefined })}
                >
                  {t("Clear the filters")}
                </button>
              </div>
            )}
          </div>
        )}
        <ol className="audit">
          {entries?.map((entry) => (
            <Entry key={entry.id} entry={entry} names={names} />
          ))}
        </ol>
        <Older of={log} />
      </section>
    </>
  );
}

type Names = ReturnType<typeof useNames>;

function Filters({
  search,
  names,
  onChange,
}: {
  search: AuditSearch;
  names: Names;
  onChange: (next: AuditSearch) => void;
}) {
  const target = /^target:(\d+)$/.exec(search.object ?? "")?.[1];
  const actors: (readonly [actor: string, name: string])[] = [
    ...names.people.map((one) => [`user:${one.id}`, nameOf(one)] as const),
    ...names.keys.map((one) => [`key:${one.id}`, t("Key {name}", { name: one.name })] as const),
  ];
  if (search.actor && !actors.some(([actor]) => actor === search.actor))
    actors.push([search.actor, actorName(search.actor, names.people, names.keys)]);
  const chosen = search.action && !actions[search.action] ? search.action : null;
  return (
    <div className="audit-filters">
      <label className="field">
        <span className="label">{t("By")}</span>
        <select
          className="input"
          value={search.actor ?? ""}
          onChange={(event) => onChange({ actor: event.target.value || undefined })}
        >
          <option value="">{t("Anybody")}</option>
          {actors.map(([actor, name]) => (
            <option key={actor} value={actor}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <label className="field">
        <span className="label">{t("What")}</span>
        <select
          className="input"
          value={search.action ?? ""}
          onChange={(event) => onChange({ action: event.target.value || undefined })}
        >
          <option value="">{t("Anything")}</option>
          {Object.entries(actions).map(([action, { name }]) => (
            <option key={action} value={action}>
              {name}
            </option>
          ))}
          {chosen && <option value={chosen}>{chosen}</option>}
        </select>
      </label>
      <TargetPicker
        label={t("Target")}
        value={target ? Number(target) : null}
        clearable
        onChange={(id) => onChange({ object: id === null ? undefined : `target:${id}` })}
      />
      {search.object && !target && (
        <button type="button" className="chip" onClick={() => onChange({ object: undefined })}>
          {objectName(search.object, names.known)} <X size={14} aria-label={t("Clear this filter")} />
        </button>
      )}
    </div>
  );
}

function Entry({ entry, names }: { entry: AuditEntry; names: Names }) {
  const { lead, before, object, after, detail } = tell(entry, names.known);
  const place = placeOf(entry.object);
  const gone = entry.object.startsWith("target:") && names.known(entry.object) === undefined;
  return (
    <li>
      <p className="audit-told">
        {lead} <b>{actorName(entry.actor, names.people, names.keys)}</b> {before}{" "}
        {object &&
          (place && !gone ? (
            <Link to={place.to} params={{ id: place.id }} className="link">
              {object}
            </Link>
          ) : (
            <b>{object}</b>
          ))}{" "}
        {after}
        {detail && <span className="muted audit-detail">{detail}</span>}
      </p>
      <p className="muted audit-when">
        <Ago at={entry.at} /> · <Clock at={entry.at} dated />
        {entry.address && ` · ${t("from {address}", { address: entry.address })}`}
      </p>
    </li>
  );
}

const auditCsv = (entries: readonly AuditEntry[]): string =>
  csvOf(
    ["at", "actor", "action", "object", "detail", "operation", "address", "request_id"],
    entries.map((one) => [
      one.at,
      one.actor,
      one.action,
      one.object,
      one.detail,
      one.operation,
      one.address,
      one.request_id,
    ]),
  );
