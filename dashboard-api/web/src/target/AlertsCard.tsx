import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { alertApi, type Tiding } from "../api/alerts";
import { useLive } from "../app/live";
import { kindLabel } from "../settings/kinds";
import { told } from "../settings/told";
import { useMatchedRules } from "../settings/useAlerts";
import { ErrorNote } from "../ui/ErrorNote";
import { Older } from "../ui/Older";
import { StateIcon } from "../ui/StateIcon";
import { Clock } from "../ui/time";
import { Rich } from "../words/Rich";
import { t } from "../words/t";
import { iconOf, resultOf } from "./alerts";
import "../styles/past.css";

const EVERY_MS = 15_000; // of what is to be told, and tried again, no feed tells

/** Who was told of the target's incidents, by which channel, and with what result. */
export default function AlertsCard({ target }: { target: { id: number; tags: readonly string[] } }) {
  const list = useInfiniteQuery({
    queryKey: ["incidents", "tidings", target.id],
    queryFn: ({ pageParam }) => alertApi.tidings(target.id, pageParam),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next_cursor,
    refetchInterval: EVERY_MS,
  });
  const items = list.data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <section className={list.isPending ? "card holds" : "card"} aria-labelledby="alerts">
      <div className="card-head">
        <h2 id="alerts">{t("Alerts")}</h2>
        <span className="muted">{t("kept for 90 days")}</span>
      </div>
      {list.error && !list.data && <ErrorNote error={list.error} onRetry={() => void list.refetch()} />}
      {list.isPending && <div className="skeleton past-skeleton" />}
      {list.data && items.length === 0 && <Nobody target={target} />}
      <ol className="past">
        {items.map((one) => (
          <Alert key={one.id} one={one} />
        ))}
      </ol>
      <Older of={list} />
    </section>
  );
}

/** Why nobody was told, and where that is changed. */
function Nobody({ target }: { target: { id: number; tags: readonly string[] } }) {
  const matched = useMatchedRules(target.id, target.tags);
  if (!matched.data) return <p className="pad muted">{t("Nothing was to be told yet.")}</p>;
  const rule = (inner: ReactNode) => (
    <Link to="/settings/rules" className="link">
      {inner}
    </Link>
  );
  return (
    <p className="pad muted">
      <Rich
        text={
          matched.data.items.length > 0
            ? "Nothing was to be told yet. Who will be told is said by the <a>notification rules</a>."
            : "Nobody is told when this target fails: no <a>notification rule</a> that is on speaks of it on a channel that is on."
        }
        a={rule}
      />
    </p>
  );
}

function Alert({ one }: { one: Tiding }) {
  const { store } = useLive();
  const result = resultOf(one, store.serverNow());
  return (
    <li data-result={result}>
      <StateIcon state={iconOf[result]} size={18} />
      <div className="past-what">
        <p>
          <Link to="/settings/channels/$id" params={{ id: String(one.channel_id) }} className="past-who">
            {one.channel}
          </Link>{" "}
          <span className="muted">{kindLabel(one.channel_kind)}</span>
        </p>
        <p className="muted">
          <Link className="link" to="/incidents/$id" params={{ id: String(one.incident_id) }}>
            {told(one.event, one.incident_id)}
          </Link>
          {" · "}
          <Outcome one={one} result={result} />
        </p>
        {one.reason && <p className="past-why">{one.reason}</p>}
      </div>
      <span className="muted past-when">
        <Clock at={one.settled_at ?? one.created_at} dated />
      </span>
    </li>
  );
}

function Outcome({ one, result }: { one: Tiding; result: ReturnType<typeof resultOf> }) {
  const next = <Clock at={one.next_at ?? one.created_at} dated />;
  switch (result) {
    case "delivered":
      return one.attempts > 1 ? t("Delivered at attempt {n, number}", { n: one.attempts }) : t("Delivered");
    case "failed":
      return t("Not delivered");
    case "again":
      return <Rich text="Not delivered yet, tried again {time}" time={next} />;
    case "waiting":
      return <Rich text="Waits until {time}" time={next} />;
    case "due":
      return t("Waiting");
    case "sending":
      return t("Sending");
    default:
      return t("Not needed any more");
  }
}
