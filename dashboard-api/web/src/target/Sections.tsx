import { Link } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
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

/** Goes to a heading that is shown, and lets the keyboard go on from there. */
function jump(id: string): boolean {
  const heading = document.getElementById(id);
  if (!heading?.checkVisibility()) return false;
  heading.tabIndex = -1;
  heading.focus({ preventScroll: true });
  heading.scrollIntoView();
  return true;
}

/** The parts of a target's page by name. All are on one page, which is read and printed as a whole; the address says which one is meant. */
export function Sections({ id, beats }: { id: number; beats: boolean }) {
  const nav = useRef<HTMLElement>(null);
  useEffect(() => {
    const meant = location.hash.slice(1);
    if (!meant || !nav.current?.parentElement) return;
    // Where it will be is known when what is above it has come: until then it is not shown.
    const grown = new ResizeObserver(() => jump(meant) && grown.disconnect());
    grown.observe(nav.current.parentElement);
    return () => grown.disconnect();
  }, []);
  return (
    <nav ref={nav} className="tabs sections" aria-label={t("On this page")}>
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
            onClick={() => void jump(part)}
          >
            {name}
          </Link>
        ))}
    </nav>
  );
}
