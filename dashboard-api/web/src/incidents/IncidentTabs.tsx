import { Link } from "@tanstack/react-router";
import { t } from "../words/t";

/** What went wrong, and when it may: two sides of one page. */
export function IncidentTabs() {
  return (
    <nav className="tabs" aria-label={t("Incidents and maintenance")}>
      <Link to="/incidents" activeOptions={{ includeSearch: false }}>
        {t("Incidents")}
      </Link>
      <Link to="/maintenance">{t("Maintenance")}</Link>
    </nav>
  );
}
