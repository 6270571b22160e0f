import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { ChevronLeft, Ellipsis, ExternalLink, Eye, EyeOff, Trash2 } from "lucide-react";
import { type ReactNode, useState } from "react";
import { ApiError } from "../api/client";
import { pagesApi, type StatusPage, tagOf } from "../api/statusPages";
import { useToast } from "../app/toasts";
import { useMayEdit } from "../app/useSelf";
import { Confirm } from "../ui/Confirm";
import { ErrorNote } from "../ui/ErrorNote";
import { Menu, MenuItem } from "../ui/Menu";
import { briefly } from "../ui/problems";
import { t } from "../words/t";
import { addressOf, audience, PAGES, pathOf, usePage, usePageSaved } from "./pages";
import "../styles/target.css";
import "../styles/settings.css";
import "../styles/statuspages.css";

/** What all sides of a status page have above them: its name, whether it is published, and the way between them. */
export function PageFrame({ children }: { children: (page: StatusPage) => ReactNode }) {
  const page = usePage();
  return (
    <div className="page">
      <Link to="/settings/pages" className="back">
        <ChevronLeft size={16} aria-hidden /> {t("Status pages")}
      </Link>
      {page.data ? (
        <>
          <Head page={page.data} />
          {children(page.data)}
        </>
      ) : page.error instanceof ApiError && page.error.status === 404 ? (
        <div className="empty">
          <h1>{t("There is no such status page")}</h1>
          <p>{t("It may have been deleted.")}</p>
        </div>
      ) : page.error ? (
        <ErrorNote error={page.error} onRetry={() => void page.refetch()} />
      ) : (
        <div className="skeleton page-skeleton" />
      )}
    </div>
  );
}

function Head({ page }: { page: StatusPage }) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const toast = useToast();
  const mayEdit = useMayEdit();
  const saved = usePageSaved();
  const [asking, setAsking] = useState<"unpublish" | "delete" | null>(null);
  const publish = useMutation({
    mutationFn: (published: boolean) => pagesApi.update(page.id, { published }, tagOf(page)),
    onSuccess: (now) => {
      saved(now);
      toast({
        text: now.published
          ? t("Published: everybody who may sees {name}.", { name: now.title })
          : t("{name} is a draft.", { name: now.title }),
      });
    },
    onError: (error) =>
      toast({ bad: true, text: t("{name} was not changed: {why}", { name: page.title, why: briefly(error) }) }),
  });
  const remove = async () => {
    try {
      await pagesApi.remove(page.id);
      toast({ text: t("{name} deleted.", { name: page.title }) });
      await navigate({ to: "/settings/pages", ignoreBlocker: true });
      queries.removeQueries({ queryKey: [PAGES, page.id] });
      void queries.invalidateQueries({ queryKey: [PAGES], exact: true });
    } catch (error) {
      toast({ bad: true, text: t("{name} was not deleted: {why}", { name: page.title, why: briefly(error) }) });
    }
  };
  const id = String(page.id);
  return (
    <>
      <div className="target-head">
        <div className="title">
          <h1>{page.title}</h1>
          <p className="muted page-line">
            {page.published ? <Eye size={15} aria-hidden /> : <EyeOff size={15} aria-hidden />}{" "}
            {page.published
              ? t("{audience} at {address}", {
                  audience: audience(page),
                  address: addressOf(page).replace(/^https?:\/\//, ""),
                })
              : audience(page)}
          </p>
        </div>
        <div className="actions">
          {page.published && (
            <a className="btn" href={pathOf(page)} target="_blank" rel="noreferrer">
              <ExternalLink size={15} aria-hidden /> {t("Open the page")}
            </a>
          )}
          {mayEdit && (
            <>
              {!page.published && (
                <button
                  type="button"
                  className="btn primary"
                  disabled={publish.isPending}
                  onClick={() => publish.mutate(true)}
                >
                  <Eye size={15} aria-hidden /> {t("Publish")}
                </button>
              )}
              <Menu label={t("Actions for {name}", { name: page.title })} icon={<Ellipsis size={18} aria-hidden />}>
                {page.published && (
                  <MenuItem icon={<EyeOff size={16} aria-hidden />} onSelect={() => setAsking("unpublish")}>
                    {t("Unpublish")}
                  </MenuItem>
                )}
                <MenuItem icon={<Trash2 size={16} aria-hidden />} danger onSelect={() => setAsking("delete")}>
                  {t("Delete")}
                </MenuItem>
              </Menu>
            </>
          )}
        </div>
      </div>
      <nav className="tabs" aria-label={t("Status page")}>
        <Link to="/settings/pages/$id" params={{ id }} activeOptions={{ exact: true, includeSearch: false }}>
          {t("Page")}
        </Link>
        <Link to="/settings/pages/$id/posts" params={{ id }}>
          {t("Posts")}
        </Link>
        <Link to="/settings/pages/$id/share" params={{ id }}>
          {t("Share")}
        </Link>
      </nav>
      {asking === "unpublish" && (
        <Confirm
          title={t("Unpublish {name}?", { name: page.title })}
          act={t("Unpublish")}
          keep={t("Keep it published")}
          onClose={() => setAsking(null)}
          onAct={async () => {
            await publish.mutateAsync(false).catch(() => undefined);
          }}
        >
          {t(
            "Its address, badges and feeds answer “there is no such page” from then on, to readers who have it open, too. Nothing is lost: it can be published again.",
          )}
        </Confirm>
      )}
      {asking === "delete" && (
        <Confirm
          title={t("Delete {name}?", { name: page.title })}
          act={t("Delete it")}
          onClose={() => setAsking(null)}
          onAct={remove}
        >
          {page.published
            ? t(
                "Its address, badges and feeds stop answering at once, and all its posts with their updates are deleted with it. Targets and their history stay. This cannot be undone.",
              )
            : t(
                "It is a draft, so nobody misses it; but all its posts with their updates are deleted with it. Targets and their history stay. This cannot be undone.",
              )}
        </Confirm>
      )}
    </>
  );
}
