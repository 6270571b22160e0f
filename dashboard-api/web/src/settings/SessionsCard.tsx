import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Laptop, LogOut, Smartphone } from "lucide-react";
import { accountApi, type OpenSession } from "../api/accounts";
import { useToast } from "../app/toasts";
import { ErrorNote } from "../ui/ErrorNote";
import { briefly } from "../ui/problems";
import { Ago } from "../ui/time";
import { Rich } from "../words/Rich";
import { t } from "../words/t";
import { device } from "./device";

const handheld = /\b(Android|iPhone|iPad|Mobile)\b/;

/** Where I am signed in, and the way to end that. */
export function SessionsCard() {
  const queries = useQueryClient();
  const toast = useToast();
  const sessions = useQuery({ queryKey: ["sessions"], queryFn: accountApi.sessions });
  const all = sessions.data?.items.toSorted((a, b) => Number(b.current) - Number(a.current)); // this one first
  const end = async (act: Promise<void>, done: string) => {
    try {
      await act;
      toast({ text: done });
    } catch (error) {
      toast({ bad: true, text: t("Not signed out: {why}", { why: briefly(error) }) });
    }
    void queries.invalidateQueries({ queryKey: ["sessions"] });
  };
  return (
    <section className="card" aria-labelledby="sessions">
      <div className="card-head">
        <h2 id="sessions">{t("Where you are signed in")}</h2>
        <button
          type="button"
          className="btn push"
          disabled={!all || all.length < 2}
          onClick={() => void end(accountApi.endOtherSessions(), t("You are signed out everywhere else."))}
        >
          <LogOut size={15} aria-hidden /> {t("Sign out everywhere else")}
        </button>
      </div>
      {sessions.error && !all && <ErrorNote error={sessions.error} onRetry={() => void sessions.refetch()} />}
      {!all && !sessions.error && <div className="skeleton chart-skeleton" />}
      {all && (
        <ul className="entries" aria-label={t("Sessions")}>
          {all.map((one) => (
            <SessionRow
              key={one.id}
              session={one}
              onEnd={() =>
                void end(
                  accountApi.endSession(one.id),
                  t("{device} is signed out within seconds.", { device: device(one.user_agent) }),
                )
              }
            />
          ))}
        </ul>
      )}
    </section>
  );
}

function SessionRow({ session, onEnd }: { session: OpenSession; onEnd: () => void }) {
  const name = device(session.user_agent);
  const Icon = handheld.test(session.user_agent) ? Smartphone : Laptop;
  return (
    <li className="entry" data-session={session.id}>
      <Icon size={19} aria-hidden />
      <div>
        <b className="entry-name" title={session.user_agent}>
          {name}
        </b>
        {session.current && <span className="tag">{t("this one")}</span>}
        <p className="muted">
          <Rich
            text="{address} · signed in {ago}"
            address={session.address || t("address not known")}
            ago={<Ago at={session.created_at} />}
          />
        </p>
      </div>
      <span className="entry-state">
        {session.current ? t("in use") : <Rich text="seen {ago}" ago={<Ago at={session.last_used_at} />} />}
      </span>
      {session.current ? (
        <span />
      ) : (
        <button type="button" className="btn" onClick={onEnd}>
          <Rich text="Sign out<sr> {name}</sr>" name={name} sr={(inner) => <span className="sr">{inner}</span>} />
        </button>
      )}
    </li>
  );
}
