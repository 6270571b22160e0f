import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { SearchX } from "lucide-react";
import { useRef } from "react";
import { useKeys } from "../app/keys";
import type { IncidentSearch } from "../app/router";
import { StateIcon } from "../ui/StateIcon";
import { TargetPicker } from "../ui/TargetPicker";
import { Rich } from "../words/Rich";
import { t } from "../words/t";
import { IncidentSection } from "./IncidentSection";
import { IncidentTabs } from "./IncidentTabs";
import "../styles/incidents.css";

const filters = [
  ["all", t("All")],
  ["open", t("Open")],
  ["resolved", t("Resolved")],
] as const;

/** What went wrong, the open ones first. */
export function IncidentsPage() {
  const search = useSearch({ from: "/app/incidents" });
  const navigate = useNavigate({ from: "/incidents" });
  const page = useRef<HTMLDivElement>(null);
  const change = (next: IncidentSearch) => void navigate({ search: (old) => ({ ...old, ...next }), replace: true });
  const clear = () => void navigate({ search: {}, replace: true });
  const shown = search.state ?? "all";
  const target = search.target ? Number(search.target) : undefined;
  const step = (by: number) => {
    const links = [...(page.current?.querySelectorAll<HTMLElement>("[data-incident]") ?? [])];
    const at = links.indexOf(document.activeElement as HTMLElement);
    links[at < 0 ? 0 : Math.min(links.length - 1, Math.max(0, at + by))]?.focus();
  };
  useKeys({
    j: () => step(1),
    k: () => step(-1),
    "/": () => page.current?.querySelector<HTMLElement>("input")?.focus(),
  });

  const nothing = (
    <div className="empty">
      <SearchX size={28} aria-hidden className="muted" />
      <h2>{t("Nothing matches")}</h2>
      <p>{t("This target has no such incident.")}</p>
      <div className="actions">
        <button type="button" className="btn" onClick={clear}>
          {t("Clear the filters")}
        </button>
      </div>
    </div>
  );
  return (
    <div className="page" ref={page}>
      <div className="page-head">
        <div>
          <h1>{t("Incidents")}</h1>
          <p className="muted">{t("An incident begins at the first failing check, not when it was confirmed.")}</p>
        </div>
      </div>
      <IncidentTabs />
      <div className="toolbar incident-tools">
        {/* biome-ignore lint/a11y/useSemanticElements: a row of toggles, not a form */}
        <div className="segments" role="group" aria-label={t("Which incidents")}>
          {filters.map(([value, label]) => (
            <button
              key={value}
              type="button"
              aria-pressed={shown === value}
              onClick={() => change({ state: value === "all" ? undefined : value })}
            >
              {label}
            </button>
          ))}
        </div>
        <TargetPicker
          label={t("Target")}
          value={target ?? null}
          clearable
          onChange={(id) => change({ target: id === null ? undefined : String(id) })}
        />
      </div>
      {shown !== "resolved" && (
        <IncidentSection
          title={t("Open")}
          state="open"
          target={target}
          empty={
            target && shown === "open" ? (
              nothing
            ) : (
              <div className="empty small">
                <StateIcon state="up" size={26} />
                <h3>{t("Nothing is wrong")}</h3>
                <p>
                  <Rich
                    text="An incident opens here by itself when a target's rule says so. Who is told is set under <a>notification rules</a>."
                    a={(inner) => (
                      <Link className="link" to="/settings/rules">
                        {inner}
                      </Link>
                    )}
                  />
                </p>
              </div>
            )
          }
        />
      )}
      {shown !== "open" && (
        <IncidentSection
          title={t("Resolved")}
          state="resolved"
          target={target}
          empty={
            target ? (
              nothing
            ) : (
              <p className="pad muted">{t("Nothing was resolved yet. What is over stays here, with its timeline.")}</p>
            )
          }
        />
      )}
    </div>
  );
}
