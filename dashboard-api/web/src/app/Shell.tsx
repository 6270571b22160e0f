import { Link, Outlet, useNavigate } from "@tanstack/react-router";
import { Suspense, useState } from "react";
import type { Session } from "../api/types";
import { Logo } from "../ui/Logo";
import { AppMenu } from "./AppMenu";
import { ConnectionPill } from "./ConnectionPill";
import { HelpDialog } from "./HelpDialog";
import { useKeys } from "./keys";
import { useLiveRunning } from "./live";
import { Presence } from "./Presence";

export function Shell({ session }: { session: Session }) {
  useLiveRunning();
  const [help, setHelp] = useState(false);
  const navigate = useNavigate();
  useKeys({
    "?": () => setHelp(true),
    "g o": () => void navigate({ to: "/" }),
    "g r": () => void navigate({ to: "/reports" }),
    "g f": () => void navigate({ to: "/fleet" }),
  });
  return (
    <>
      <a className="skip" href="#main">
        Skip to content
      </a>
      <header className="top">
        <div className="top-in">
          <Link to="/" className="brand" aria-label="Probefleet, overview">
            <Logo /> <span>Probefleet</span>
          </Link>
          <nav aria-label="Main">
            <Link to="/" activeOptions={{ exact: true, includeSearch: false }}>
              Overview
            </Link>
            <Link to="/reports">Reports</Link>
            <Link to="/fleet">Fleet</Link>
          </nav>
          <div className="row push">
            <ConnectionPill />
            <AppMenu user={session.user} onHelp={() => setHelp(true)} />
          </div>
        </div>
      </header>
      <main id="main" tabIndex={-1}>
        <Suspense fallback={<div className="skeleton page-skeleton" />}>
          <Outlet />
        </Suspense>
      </main>
      <Presence />
      {help && <HelpDialog onClose={() => setHelp(false)} />}
    </>
  );
}
