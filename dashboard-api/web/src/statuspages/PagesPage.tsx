import { Link } from "@tanstack/react-router";
import { Eye, EyeOff, Plus } from "lucide-react";
import { lazy, Suspense, useState } from "react";
import type { StatusPage } from "../api/statusPages";
import { useKeys } from "../app/keys";
import { useMayEdit } from "../app/useSelf";
import { SettingsTabs } from "../settings/SettingsTabs";
import { ErrorNote } from "../ui/ErrorNote";
import { Rich } from "../words/Rich";
import { t } from "../words/t";
import { componentsOf } from "./draft";
import { Example } from "./Example";
import { addressOf, audience, usePages } from "./pages";
import "../styles/settings.css";
import "../styles/statuspages.css";

const NewPageDialog = lazy(() => import("./NewPageDialog"));

/** The pages that tell others how things are. */
export function PagesPage() {
  const pages = usePages();
  const mayEdit = useMayEdit();
  const [adding, setAdding] = useState(false);
  const add = () => setAdding(true);
  useKeys(mayEdit ? { c: add } : {});
  const items = pages.data?.items;
  return (
    <div className="page">
      <div className="page-head">
        <div>
          <h1>{t("Status pages")}</h1>
          <p className="muted">{t("What customers and colleagues may see of your targets, in your words.")}</p>
        </div>
        {mayEdit && (
          <button type="button" className="btn primary push" onClick={add}>
            <Plus size={16} aria-hidden /> {t("Add status page")}
          </button>
        )}
      </div>
      <SettingsTabs />
      {pages.error && !pages.data && <ErrorNote error={pages.error} onRetry={() => void pages.refetch()} />}
      {pages.isPending && <div className="skeleton page-skeleton" />}
      {items?.length === 0 && (
        <div className="card teach">
          <div>
            <h2>{t("There is no status page yet")}</h2>
            <p>
              {t(
                "When something breaks, people ask before you can tell them. A status page answers: how things are now, how they were for 90 days, and what you are doing about it.",
              )}
            </p>
            <ol>
              <li>{t("Give it a name and an address. It stays a draft until you publish it.")}</li>
              <li>
                <Rich
                  text="Say which of your targets stand behind which <b>component</b>. Readers see only the names you give."
                  b={(inner) => <b>{inner}</b>}
                />
              </li>
              <li>{t("Publish it, share the address, and post updates when something happens.")}</li>
            </ol>
            {mayEdit && (
              <button type="button" className="btn primary" onClick={add}>
                <Plus size={16} aria-hidden /> {t("Add status page")}
              </button>
            )}
          </div>
          <figure>
            <Example />
            <figcaption className="muted">{t("What it will look like")}</figcaption>
          </figure>
        </div>
      )}
      {items && items.length > 0 && (
        <ul className="card entries" aria-label={t("Status pages")}>
          {items.map((one) => (
            <Entry key={one.id} page={one} />
          ))}
        </ul>
      )}
      {adding && (
        <Suspense fallback={null}>
          <NewPageDialog onClose={() => setAdding(false)} />
        </Suspense>
      )}
    </div>
  );
}

function Entry({ page }: { page: StatusPage }) {
  return (
    <li className="entry" data-off={!page.published || undefined}>
      {page.published ? <Eye size={18} aria-hidden /> : <EyeOff size={18} aria-hidden />}
      <div>
        <Link to="/settings/pages/$id" params={{ id: String(page.id) }} className="entry-link">
          {page.title}
        </Link>
        <p className="muted">
          {addressOf(page).replace(/^https?:\/\//, "")} ·{" "}
          {t("{n, plural, one {# component} other {# components}}", { n: componentsOf(page).length })}
        </p>
      </div>
      <span className="entry-state">{audience(page)}</span>
    </li>
  );
}
