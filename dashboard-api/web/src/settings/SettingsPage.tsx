import { Link } from "@tanstack/react-router";
import { BellRing, FileText, Globe, Radio, Wrench } from "lucide-react";
import { type Theme, useTheme, useZone, type Zone } from "../app/preferences";
import { useSession } from "../app/useSelf";
import { Choice } from "../targetform/HeartbeatFields";
import { Clock, useNow } from "../ui/time";
import { SettingsTabs } from "./SettingsTabs";
import "../styles/dialog.css";
import "../styles/settings.css";

const places = [
  { to: "/settings/channels", Icon: Radio, name: "Channels", what: "Where messages go: mail, chat, on-call services." },
  {
    to: "/settings/rules",
    Icon: BellRing,
    name: "Notification rules",
    what: "Which incidents are told to whom, and when.",
  },
  { to: "/settings/pages", Icon: Globe, name: "Status pages", what: "What everybody may see, in your words." },
  { to: "/maintenance", Icon: Wrench, name: "Maintenance", what: "When nobody is to be told." },
  { to: "/reports", Icon: FileText, name: "Reports", what: "A month of all targets, to read or print." },
] as const;

/** How this browser shows things, and the way to what is set for everybody. */
export function SettingsPage() {
  const session = useSession();
  const [theme, setTheme] = useTheme();
  const [zone, setZone] = useZone();
  const now = useNow();
  return (
    <div className="page">
      <div className="page-head">
        <div>
          <h1>Settings</h1>
          <p className="muted">Of you, in this browser; and of the installation.</p>
        </div>
      </div>
      <SettingsTabs />
      <div className="settings-grid">
        <section className="card" aria-labelledby="profile">
          <div className="card-head">
            <h2 id="profile">Profile</h2>
          </div>
          <dl className="pad profile">
            <div>
              <dt>Name</dt>
              <dd>{session?.user?.name || "–"}</dd>
            </div>
            <div>
              <dt>E-mail</dt>
              <dd>{session?.user?.email ?? "–"}</dd>
            </div>
            <div>
              <dt>Role</dt>
              <dd>{session?.role ?? "–"}</dd>
            </div>
          </dl>
        </section>
        <section className="card" aria-labelledby="appearance">
          <div className="card-head">
            <h2 id="appearance">Appearance</h2>
            <span className="muted">kept in this browser</span>
          </div>
          <div className="pad stack">
            <Choice<Theme>
              label="Theme"
              value={theme}
              options={[
                ["system", "System"],
                ["light", "Light"],
                ["dark", "Dark"],
              ]}
              onChange={setTheme}
            />
            <Choice<Zone>
              label="Times"
              value={zone}
              options={[
                ["local", "Browser time"],
                ["utc", "UTC"],
              ]}
              onChange={setZone}
            />
            <p className="muted">
              Now: <Clock at={now} dated />
            </p>
          </div>
        </section>
      </div>
      <ul className="places">
        {places.map(({ to, Icon, name, what }) => (
          <li key={to}>
            <Link to={to} className="card place">
              <Icon size={19} aria-hidden />
              <span>
                <b>{name}</b>
                <span className="muted">{what}</span>
              </span>
            </Link>
          </li>
        ))}
      </ul>
    </div>
  );
}
