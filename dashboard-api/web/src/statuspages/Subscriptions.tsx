import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { Mail, Webhook } from "lucide-react";
import { useState } from "react";
import { pagesApi, type StatusPage, type Subscriber } from "../api/statusPages";
import { useToast } from "../app/toasts";
import { CheckLine } from "../ui/CheckLine";
import { Confirm } from "../ui/Confirm";
import { ErrorNote } from "../ui/ErrorNote";
import { Older } from "../ui/Older";
import { briefly } from "../ui/problems";
import { Ago } from "../ui/time";
import { listed } from "../ui/words";
import { Rich } from "../words/Rich";
import { t } from "../words/t";
import { namesOf, type PageDraft } from "./draft";
import { PAGES } from "./pages";

/** How readers may have themselves told, and who does. */
export function Subscriptions({
  page,
  draft,
  onChange,
}: {
  page: StatusPage;
  draft: PageDraft;
  onChange: (change: Partial<PageDraft>) => void;
}) {
  return (
    <section className="card" aria-labelledby="subscriptions">
      <div className="card-head">
        <h2 id="subscriptions">{t("Subscriptions")}</h2>
      </div>
      <div className="pad stack">
        <CheckLine checked={draft.byEmail} onChange={(byEmail) => onChange({ byEmail })}>
          {t("By e-mail")}
          <span className="muted">
            {t(
              "Readers are told what you post, once they have confirmed their address. Each letter says how to end it.",
            )}
          </span>
          {page.mail_missing && (
            <span className="word s-degraded">{t("Not yet: {why}.", { why: page.mail_missing })}</span>
          )}
        </CheckLine>
        <CheckLine checked={draft.byWebhook} onChange={(byWebhook) => onChange({ byWebhook })}>
          {t("By webhook")}
          <span className="muted">
            {t("An address of theirs is sent what you post, once it has answered a question.")}
          </span>
        </CheckLine>
      </div>
      <Subscribers page={page} />
    </section>
  );
}

function Subscribers({ page }: { page: StatusPage }) {
  const [removing, setRemoving] = useState<Subscriber | null>(null);
  const found = useInfiniteQuery({
    queryKey: [PAGES, page.id, "subscribers"],
    queryFn: ({ pageParam }) => pagesApi.subscribers(page.id, pageParam),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next_cursor,
  });
  const all = found.data?.pages.flatMap((one) => one.items);
  if (found.error && !all) return <ErrorNote error={found.error} onRetry={() => void found.refetch()} />;
  if (!all) return <div className="skeleton chart-skeleton" />;
  if (all.length === 0) return <p className="pad muted">{t("Nobody has subscribed yet.")}</p>;
  return (
    <>
      <ul className="entries" aria-label={t("Subscribers")}>
        {all.map((one) => (
          <li key={one.id} className="entry" data-subscriber={one.id}>
            {one.kind === "email" ? <Mail size={18} aria-hidden /> : <Webhook size={18} aria-hidden />}
            <div>
              <b className="entry-name">{one.to}</b>
              <p className="muted">
                {one.component_ids.length > 0 ? listed(namesOf(page, one.component_ids)) : t("Everything on the page")}
              </p>
            </div>
            <span className="entry-state">
              {one.confirmed_at ? (
                <Rich text="confirmed {ago}" ago={<Ago at={one.confirmed_at} />} />
              ) : (
                t("Not confirmed yet")
              )}
            </span>
            <button type="button" className="btn" onClick={() => setRemoving(one)}>
              <Rich text="Remove<sr> {name}</sr>" name={one.to} sr={(inner) => <span className="sr">{inner}</span>} />
            </button>
          </li>
        ))}
      </ul>
      <Older of={found} />
      {removing && <Remove page={page} subscriber={removing} onClose={() => setRemoving(null)} />}
    </>
  );
}

function Remove({ page, subscriber, onClose }: { page: StatusPage; subscriber: Subscriber; onClose: () => void }) {
  const queries = useQueryClient();
  const toast = useToast();
  const remove = async () => {
    try {
      await pagesApi.removeSubscriber(page.id, subscriber.id);
      toast({ text: t("{name} is told nothing any more.", { name: subscriber.to }) });
    } catch (error) {
      toast({ bad: true, text: t("{name} was not removed: {why}", { name: subscriber.to, why: briefly(error) }) });
    }
    void queries.invalidateQueries({ queryKey: [PAGES, page.id, "subscribers"] });
  };
  return (
    <Confirm title={t("Remove {name}?", { name: subscriber.to })} act={t("Remove it")} onAct={remove} onClose={onClose}>
      {t("Nothing is sent there any more, and the address is forgotten. Whoever it belongs to may subscribe again.")}
    </Confirm>
  );
}
