import { Link } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { useSession } from "../app/useSelf";

export function SettingsTabs() {
  const owner = useSession()?.role === "owner";
  const nav = useRef<HTMLElement>(null);
  useEffect(() => {
    // On a small screen the open tab may be out of sight.
    nav.current?.querySelector("[aria-current=page]")?.scrollIntoView({ block: "nearest", inline: "center" });
  }, []);
  return (
    <nav ref={nav} className="tabs" aria-label="Settings">
      <Link to="/settings" activeOptions={{ exact: true }}>
        General
      </Link>
      <Link to="/settings/account">Your account</Link>
      {owner && <Link to="/settings/people">People</Link>}
      <Link to="/settings/keys">API keys</Link>
      <Link to="/settings/channels">Channels</Link>
      <Link to="/settings/rules">Notification rules</Link>
      <Link to="/settings/pages">Status pages</Link>
      {owner && <Link to="/settings/audit">Audit log</Link>}
    </nav>
  );
}
