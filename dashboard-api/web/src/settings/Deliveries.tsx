import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { alertApi, type Delivery } from "../api/alerts";
import type { State } from "../api/types";
import { ErrorNote } from "../ui/ErrorNote";
import { Older } from "../ui/Older";
import { StateIcon } from "../ui/StateIcon";
import { Clock } from "../ui/time";
import { t } from "../words/t";
import { told } from "./told";

const outcomes: Record<Delivery["outcome"], [State, string]> = {
  delivered: ["up", t("Delivered")],
  retry: ["degraded", t("Tried again later")],
  failed: ["down", t("Not delivered")],
};

/** Every attempt to tell something here, newest first. */
export function Deliveries({ id }: { id: number }) {
  const log = useInfiniteQuery({
    queryKey: ["deliveries", id],
    queryFn: ({ pageParam }) => alertApi.deliveries(id, pageParam),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next_cursor,
    refetchInterval: 15_000,
  });
  const items = log.data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <section className="card" aria-labelledby="deliveries">
      <div className="card-head">
        <h2 id="deliveries">{t("Deliveries")}</h2>
        <span className="muted">{t("kept for 90 days")}</span>
      </div>
      {log.error && !log.data && <ErrorNote error={log.error} onRetry={() => void log.refetch()} />}
      {log.isPending && <div className="skeleton chart-skeleton" />}
      {log.data && items.length === 0 && (
        <p className="pad muted">{t("Nothing was sent here yet. Send a test, or name it in a notification rule.")}</p>
      )}
      {items.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
        <section className="scroll-x" tabIndex={0} aria-label={t("Deliveries as a table")}>
          <table>
            <thead>
              <tr>
                <th scope="col">{t("When")}</th>
                <th scope="col">{t("Outcome")}</th>
                <th scope="col">{t("What")}</th>
                <th scope="col" className="num">
                  {t("Attempt")}
                </th>
                <th scope="col" className="num">
                  {t("Took")}
                </th>
                <th scope="col">{t("Answer")}</th>
              </tr>
            </thead>
            <tbody>
              {items.map((one) => {
                const [state, word] = outcomes[one.outcome];
                return (
                  <tr key={one.id}>
                    <td>
                      <Clock at={one.at} dated />
                    </td>
                    <td>
                      <span className="row">
                        <StateIcon state={state} size={16} /> {word}
                      </span>
                    </td>
                    <td>
                      {one.incident_id === null ? (
                        t("test")
                      ) : (
                        <Link className="link" to="/incidents/$id" params={{ id: String(one.incident_id) }}>
                          {told(one.event, one.incident_id)}
                        </Link>
                      )}
                    </td>
                    <td className="num">{one.attempt}</td>
                    <td className="num">{t("{n} ms", { n: one.took_ms })}</td>
                    <td className="excerpt" title={one.excerpt}>
                      {one.status > 0 && `${one.status} `}
                      {one.excerpt}
                    </td>
                  </tr>
                );
              })}
            </tbody>
          </table>
        </section>
      )}
      <Older of={log} />
    </section>
  );
}
