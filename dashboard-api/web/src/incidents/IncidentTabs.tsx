import { Link } from "@tanstack/react-router";

/** What went wrong, and when it may: two sides of one page. */
export function IncidentTabs() {
  return (
    <nav className="tabs" aria-label="Incidents and maintenance">
      <Link to="/incidents" activeOptions={{ includeSearch: false }}>
        Incidents
      </Link>
      <Link to="/maintenance">Maintenance</Link>
    </nav>
  );
}
