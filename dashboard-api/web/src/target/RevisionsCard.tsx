import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { type Revision, revisionsOf } from "../api/revisions";
import { useSession } from "../app/useSelf";
import { capital } from "../incidents/words";
import type { TargetView } from "../live/store";
import { actions } from "../settings/auditWords";
import { ChangeLine } from "../ui/ChangeLine";
import { ErrorNote } from "../ui/ErrorNote";
import { Older } from "../ui/Older";
import { Clock } from "../ui/time";
import { t } from "../words/t";
import { linesOf, settingsOf, whenWritten } from "./revisions";
import { useWho } from "./useWho";
import "../styles/past.css";

/** Who changed which settings of the target, from what to what. */
export default function RevisionsCard({ target }: { target: TargetView }) {
  const { id } = target;
  const owner = useSession()?.role === "owner";
  const list = useInfiniteQuery({
    queryKey: ["revisions", id],
    queryFn: ({ pageParam }) => revisionsOf(id, pageParam),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next_cursor,
  });
  useEditsElsewhere(target);
  const who = useWho();
  const items = list.data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <section className="card" aria-labelledby="revisions">
      <div className="card-head">
        <h2 id="revisions">{t("Changes of its settings")}</h2>
        {owner && (
          <Link to="/settings/audit" search={{ object: `target:${id}` }} className="link push">
            {t("Audit log")}
          </Link>
        )}
      </div>
      {list.error && !list.data && <ErrorNote error={list.error} onRetry={() => void list.refetch()} />}
      {list.isPending && <div className="skeleton past-skeleton" />}
      {list.data && items.length === 0 && <p className="pad muted">{t("Nothing was changed yet")}</p>}
      <ol className="revisions">
        {items.map((one) => (
          <Entry key={one.id} one={one} who={who(one.actor)} />
        ))}
      </ol>
      <Older of={list} />
    </section>
  );
}

/** Asks again when the settings are seen to change, whoever changed them. */
function useEditsElsewhere(target: TargetView): void {
  const queries = useQueryClient();
  const settings = settingsOf(target);
  const first = useRef(true);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each change starts the wait again
  useEffect(() => {
    if (first.current) {
      first.current = false;
      return;
    }
    return whenWritten(() => void queries.invalidateQueries({ queryKey: ["revisions", target.id] }));
  }, [settings, target.id, queries]);
}

function Entry({ one, who }: { one: Revision; who: string }) {
  return (
    <li className="changes">
      <div className="changes-head">
        <h3>{capital(who)}</h3>
        <p className="muted">
          {one.action !== "target.updated" && <span>{actions[one.action]?.name ?? one.action} · </span>}
          <Clock at={one.at} dated />
        </p>
      </div>
      {one.kept ? (
        <ul className="changes-list">
          {linesOf(one.changes).map((row) => (
            <ChangeLine key={row.key} row={row} />
          ))}
        </ul>
      ) : (
        one.action === "target.updated" && (
          <p className="changes-note muted">{t("What it changed was not kept then.")}</p>
        )
      )}
    </li>
  );
}
