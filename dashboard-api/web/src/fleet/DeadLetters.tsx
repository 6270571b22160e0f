import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { RotateCcw } from "lucide-react";
import { useEffect, useState } from "react";
import { api } from "../api/endpoints";
import type { DeadLetter } from "../api/types";
import { useToast } from "../app/toasts";
import { ErrorNote } from "../ui/ErrorNote";
import { Older } from "../ui/Older";
import { Ago, Clock } from "../ui/time";
import { Rich } from "../words/Rich";
import { t } from "../words/t";
import { askAll, replayWords, waiting } from "./letters";

const SOON_MS = 3_000; // while some are being run again
const LATER_MS = 30_000;

/** What was given up: which check, from which region, why and since when; owners have it run again. */
export default function DeadLetters({ all }: { all: number }) {
  const session = useQuery({ queryKey: ["session"], queryFn: ({ signal }) => api.session(signal) });
  const letters = useInfiniteQuery({
    queryKey: ["dead-letters"],
    queryFn: ({ pageParam }) => api.deadLetters(pageParam),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next_cursor,
    refetchInterval: (query) => (query.state.data?.pages.some((page) => page.items.some(waiting)) ? SOON_MS : LATER_MS),
  });
  const { refetch } = letters;
  // When their number changes, those that are shown may have. It need not be known which: all is read again.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the number is what it waits for
  useEffect(() => void refetch({ cancelRefetch: false }), [all, refetch]);
  const owner = session.data?.role === "owner";
  const items = letters.data?.pages.flatMap((page) => page.items) ?? [];
  const can = items.filter((one) => one.replayable && !waiting(one));
  return (
    <section className="card">
      <div className="card-head">
        <div>
          <h2 id="dead-letters">{t("Dead letters")}</h2>
          <p className="muted">
            {t("Checks that nobody could run and results that ClickHouse refused. Mend the cause, then replay them.")}
          </p>
        </div>
        {owner && can.length > 1 && (
          <span className="push">
            <Replay letters={can} all />
          </span>
        )}
      </div>
      {letters.error && !letters.data && <ErrorNote error={letters.error} onRetry={() => void letters.refetch()} />}
      {letters.isPending && <div className="skeleton chart-skeleton" />}
      {items.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
        <section className="scroll-x" tabIndex={0} aria-label={t("Dead letters")}>
          <table>
            <thead>
              <tr>
                <th scope="col">{t("Reason")}</th>
                <th scope="col">{t("Target")}</th>
                <th scope="col">{t("Slot")}</th>
                <th scope="col">{t("Region")}</th>
                <th scope="col">{t("Given up")}</th>
                <th scope="col">{t("Replay")}</th>
              </tr>
            </thead>
            <tbody>
              {items.map((one) => (
                <Row key={one.id} letter={one} owner={owner} />
              ))}
            </tbody>
          </table>
        </section>
      )}
      {items.length < all && letters.hasNextPage && (
        <>
          <p className="pad muted">
            {t("The oldest {n, number} of {all, number} are shown.", { n: items.length, all })}
          </p>
          <Older of={letters} label={t("Show more")} />
        </>
      )}
    </section>
  );
}

function Row({ letter, owner }: { letter: DeadLetter; owner: boolean }) {
  return (
    <tr>
      <td className="letter-reason">
        {letter.reason || t("Not known")}
        <span className="muted">{t(letter.kind === "row" ? "a result" : "a check")}</span>
      </td>
      <td>
        {letter.target_id > 0 ? (
          <Link to="/targets/$id" params={{ id: String(letter.target_id) }}>
            {t("target {id}", { id: String(letter.target_id) })}
          </Link>
        ) : (
          t("Not known")
        )}
      </td>
      <td>{letter.scheduled_at ? <Clock at={letter.scheduled_at} dated /> : t("Not known")}</td>
      <td>{letter.region}</td>
      <td>
        {letter.prober ? (
          <Rich text="{time} by {prober}" time={<Ago at={letter.at} />} prober={letter.prober} />
        ) : (
          <Ago at={letter.at} />
        )}
      </td>
      <td>
        {replayWords(letter)} {owner && letter.replayable && !waiting(letter) && <Replay letters={[letter]} />}
      </td>
    </tr>
  );
}

function Replay({ letters, all = false }: { letters: readonly DeadLetter[]; all?: boolean }) {
  const queries = useQueryClient();
  const toast = useToast();
  const [busy, setBusy] = useState(false);
  const replay = async () => {
    setBusy(true);
    const { asked, error } = await askAll(
      letters.map((one) => one.id),
      api.replayDeadLetters,
    );
    if (asked > 0 || !error) {
      toast({
        text: t(
          "{n, plural, one {# dead letter is run again. It leaves the list when it is done.} other {# dead letters are run again. They leave the list when they are done.}}",
          { n: asked },
        ),
      });
    }
    if (error) {
      const why = error.message;
      toast({
        bad: true,
        text: asked > 0 ? t("The rest was not replayed: {why}", { why }) : t("Nothing was replayed: {why}", { why }),
      });
    }
    setBusy(false);
    void queries.invalidateQueries({ queryKey: ["dead-letters"] });
    void queries.invalidateQueries({ queryKey: ["fleet"] });
  };
  return (
    <button type="button" className={all ? "btn" : "chip"} disabled={busy} onClick={() => void replay()}>
      <RotateCcw size={14} aria-hidden />{" "}
      {all ? (
        t("Replay all {n, number}", { n: letters.length })
      ) : (
        <Rich
          text="Replay<sr> {id}</sr>"
          sr={(inner) => <span className="sr">{inner}</span>}
          id={letters[0]?.id ?? ""}
        />
      )}
    </button>
  );
}
