import { Link } from "@tanstack/react-router";
import { useEffect } from "react";
import { t } from "../words/t";

/** The headings that are jumped to, in the order of the page; a heartbeat has no response times and no regions. */
const parts = [
  ["performance", t("Response time")],
  ["incidents", t("Incidents")],
  ["checks", t("Checks")],
  ["regions", t("Regions")],
  ["alerts", t("Alerts")],
  ["revisions", t("Settings")],
] as const;
const measured = new Set<string>(["performance", "regions"]);

/** Goes to a heading, and lets the keyboard go on from there. */
function jump(id: string): void {
  const heading = document.getElementById(id);
  if (!heading) return;
  heading.tabIndex = -1;
  heading.focus({ preventScroll: true });
  heading.scrollIntoView();
}

/** The parts of a target's page by name. All are on one page, which is read and printed as a whole; the address says which one is meant. */
export function Sections({ id, beats }: { id: number; beats: boolean }) {
  useEffect(() => jump(location.hash.slice(1)), []);
  return (
    <nav className="tabs sections" aria-label={t("On this page")}>
      {parts
        .filter(([part]) => !beats || !measured.has(part))
        .map(([part, name]) => (
          <Link
            key={part}
            to="/targets/$id"
            params={{ id: String(id) }}
            search={(old) => old}
            hash={part}
            replace
            resetScroll={false}
            hashScrollIntoView={false}
            activeOptions={{ includeHash: true }}
            activeProps={{ "aria-current": "location" }}
            onClick={() => jump(part)}
          >
            {name}
          </Link>
        ))}
    </nav>
  );
}
