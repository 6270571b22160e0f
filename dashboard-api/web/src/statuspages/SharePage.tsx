import { useState } from "react";
import type { StatusPage } from "../api/statusPages";
import { CopyText } from "../ui/CopyText";
import { Field } from "../ui/Field";
import { t } from "../words/t";
import { componentsOf } from "./draft";
import { PageFrame } from "./PageFrame";
import { addressOf, pathOf } from "./pages";
import { badgeOf, feedsOf } from "./share";

/** The address to give away, badges and feeds. */
export function SharePage() {
  return <PageFrame>{(page) => <Share page={page} />}</PageFrame>;
}

function Share({ page }: { page: StatusPage }) {
  const guarded = page.has_password || page.allow.length > 0;
  return (
    <>
      {!page.published && (
        <div className="banner warn">
          <p>{t("This page is a draft. These addresses answer “there is no such page” until it is published.")}</p>
        </div>
      )}
      {page.published && guarded && (
        <div className="banner">
          <p>
            {page.has_password
              ? t(
                  "Not everybody may see this page. Badges and feeds are shown only to those who may, and have signed in with the password.",
                )
              : t("Not everybody may see this page. Badges and feeds are shown only to those who may.")}
          </p>
        </div>
      )}
      <section className="card" aria-labelledby="address">
        <div className="card-head">
          <h2 id="address">{t("Address")}</h2>
        </div>
        <div className="pad stack">
          <CopyText label={t("the address")} text={addressOf(page)} />
          {page.host && (
            <CopyText label={t("the address on this installation")} text={location.origin + pathOf(page)} />
          )}
        </div>
      </section>
      <Badges page={page} />
      <section className="card" aria-labelledby="feeds">
        <div className="card-head">
          <h2 id="feeds">{t("Feeds and documents")}</h2>
          <span className="muted">{t("the page links the feeds itself")}</span>
        </div>
        <dl className="pad feeds">
          {feedsOf(location.origin + pathOf(page)).map(({ name, what, url }) => (
            <div key={name}>
              <dt>
                {name} <span className="muted">{what}</span>
              </dt>
              <dd>
                <CopyText label={t("the address of {name}", { name })} text={url} />
              </dd>
            </div>
          ))}
        </dl>
      </section>
    </>
  );
}

function Badges({ page }: { page: StatusPage }) {
  const [of, setOf] = useState<number | null>(null);
  const components = componentsOf(page);
  const name = components.find((one) => one.id === of)?.name ?? page.title;
  const badge = badgeOf(location.origin + pathOf(page), addressOf(page), name, of);
  return (
    <section className="card" aria-labelledby="badges">
      <div className="card-head">
        <h2 id="badges">{t("Badge")}</h2>
        <span className="muted">{t("for a README, or the foot of a site")}</span>
      </div>
      <div className="pad stack">
        <Field label={t("Of")}>
          {(bound) => (
            <select
              {...bound}
              className="input"
              value={of ?? ""}
              onChange={(event) => setOf(Number(event.target.value) || null)}
            >
              <option value="">{t("The page as a whole")}</option>
              {components.map((one) => (
                <option key={one.id} value={one.id}>
                  {one.name}
                </option>
              ))}
            </select>
          )}
        </Field>
        {page.published && !page.has_password && (
          <p>
            <img className="badge-shown" src={badge.path} alt={t("Badge of {name}", { name })} height={20} />
          </p>
        )}
        <h3>{t("Markdown")}</h3>
        <CopyText label={t("the Markdown")} text={badge.markdown} />
        <h3>{"HTML"}</h3>
        <CopyText label={t("the HTML")} text={badge.html} />
        <h3>{t("For shields.io")}</h3>
        <CopyText label={t("the address for shields.io")} text={badge.shields} />
      </div>
    </section>
  );
}
