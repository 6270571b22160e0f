import { Link } from "@tanstack/react-router";

export function SettingsTabs() {
  return (
    <nav className="tabs" aria-label="Settings">
      <Link to="/settings" activeOptions={{ exact: true }}>
        You
      </Link>
      <Link to="/settings/channels">Channels</Link>
      <Link to="/settings/rules">Notification rules</Link>
      <Link to="/settings/pages">Status pages</Link>
    </nav>
  );
}
