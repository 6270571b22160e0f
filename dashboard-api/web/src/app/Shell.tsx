import { CatchBoundary, Link, Outlet, useMatches, useNavigate, useRouter } from "@tanstack/react-router";
import { Search } from "lucide-react";
import { lazy, Suspense, useCallback, useEffect, useState } from "react";
import type { Session } from "../api/types";
import { ErrorNote } from "../ui/ErrorNote";
import { Brand } from "../ui/Logo";
import { Rich } from "../words/Rich";
import { t } from "../words/t";
import { AppMenu } from "./AppMenu";
import { ConnectionPill } from "./ConnectionPill";
import { HelpDialog } from "./HelpDialog";
import { useKeys } from "./keys";
import { useLiveRunning } from "./live";
import { useIncidentNudge, useOpenIncidents } from "./openIncidents";
import { Presence } from "./Presence";
import { SilentRegions } from "./SilentRegions";
import { useAskAgain } from "./useAskAgain";

/** The page, or why it cannot be shown: the way to the others stays. */
function Content() {
  // Of what stands there, not of the address: that changes before the next page has come.
  const shown = useMatches({ select: (all) => all.at(-1) });
  return (
    <CatchBoundary getResetKey={() => shown} errorComponent={Broken}>
      <Suspense fallback={<div className="skeleton page-skeleton" />}>
        <Outlet />
      </Suspense>
    </CatchBoundary>
  );
}

function Broken({ error, reset }: { error: unknown; reset: () => void }) {
  const router = useRouter();
  const again = () => {
    reset();
    void router.invalidate(); // asks for its script again, too
  };
  return <ErrorNote error={error} onRetry={again} />;
}

const Palette = lazy(() => import("../palette/Palette"));

export function Shell({ session }: { session: Session }) {
  useLiveRunning();
  useIncidentNudge();
  useAskAgain();
  const { n: open } = useOpenIncidents();
  const [help, setHelp] = useState(false);
  const [palette, setPalette] = useState(false);
  const showHelp = useCallback(() => setHelp(true), []);
  const navigate = useNavigate();
  useEffect(() => void import("../styles/print.css").catch(() => undefined), []);
  useEffect(() => {
    // Not among the single keys: it works while somebody types, too.
    const onKey = (event: KeyboardEvent) => {
      if (!(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey || event.key.toLowerCase() !== "k")
        return;
      event.preventDefault();
      if (!document.querySelector("dialog[open]")) setPalette(true);
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);
  useKeys({
    "?": showHelp,
    "g o": () => void navigate({ to: "/" }),
    "g i": () => void navigate({ to: "/incidents" }),
    "g m": () => void navigate({ to: "/maintenance" }),
    "g s": () => void navigate({ to: "/settings" }),
    "g p": () => void navigate({ to: "/settings/pages" }),
    "g r": () => void navigate({ to: "/reports" }),
    "g f": () => void navigate({ to: "/fleet" }),
  });
  return (
    <>
      <a className="skip" href="#main">
        {t("Skip to content")}
      </a>
      <header className="top">
        <div className="top-in">
          <Link to="/" className="brand" aria-label={t("Probefleet, overview")}>
            <Brand />
          </Link>
          <nav aria-label={t("Main")}>
            <Link to="/" activeOptions={{ exact: true, includeSearch: false }}>
              {t("Overview")}
            </Link>
            <Link to="/incidents">
              {t("Incidents")}{" "}
              {open && (
                <Rich
                  text="<badge>{n}</badge> <hidden>open</hidden>"
                  n={open}
                  badge={(n) => <span className="badge">{n}</span>}
                  hidden={(word) => <span className="sr">{word}</span>}
                />
              )}
            </Link>
            <Link to="/reports">{t("Reports")}</Link>
            <Link to="/fleet">{t("Fleet")}</Link>
            <Link to="/settings">{t("Settings")}</Link>
          </nav>
          <div className="row push">
            <button type="button" className="icon-btn" aria-label={t("Find (Ctrl K)")} onClick={() => setPalette(true)}>
              <Search size={18} aria-hidden />
            </button>
            <ConnectionPill />
            <AppMenu user={session.user} onHelp={showHelp} />
          </div>
        </div>
        <SilentRegions />
      </header>
      <main id="main" tabIndex={-1}>
        <Content />
      </main>
      <Presence />
      {palette && (
        <Suspense fallback={null}>
          <Palette onHelp={showHelp} onClose={() => setPalette(false)} />
        </Suspense>
      )}
      {help && <HelpDialog onClose={() => setHelp(false)} />}
    </>
  );
}
