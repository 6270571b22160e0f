import { Link } from "@tanstack/react-router";
import { BellRing, CircleUser, FileText, Globe, KeyRound, Radio, ScrollText, Users, Wrench } from "lucide-react";
import { type Theme, useTheme, useZone, type Zone } from "../app/preferences";
import { useSession } from "../app/useSelf";
import { Choice } from "../targetform/HeartbeatFields";
import { Clock, useNow } from "../ui/time";
import { SettingsTabs } from "./SettingsTabs";
import "../styles/dialog.css";
import "../styles/settings.css";

const places = [
  {
    to: "/settings/account",
    Icon: CircleUser,
    name: "Your account",
    what: "Password, second factor, where you are signed in.",
  },
  { to: "/settings/people", Icon: Users, name: "People", what: "Who may come in, and as what.", owner: true },
  { to: "/settings/keys", Icon: KeyRound, name: "API keys", what: "What programs sign in with." },
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
  { to: "/settings/audit", Icon: ScrollText, name: "Audit log", what: "Who changed what.", owner: true },
] as const;

/** How this browser shows things, and the way to what is set for everybody. */
export function SettingsPage() {
  const owner = useSession()?.role === "owner";
  const [theme, setTheme] = useTheme();
  const [zone, setZone] = useZone();
  const now = useNow();
  return (
    <div className="page">
      <div className="page-head">
        <div>
          <h1>Settings</h1>
          <p className="muted">How this browser shows things, and the way to everything else.</p>
        </div>
      </div>
      <SettingsTabs />
      <section className="card" aria-labelledby="appearance">
        <div className="card-head">
          <h2 id="appearance">Appearance</h2>
          <span className="muted">kept in this browser</span>
        </div>
        <div className="pad stack">
          <div className="two">
            {" "}
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
          </div>
          <p className="muted">
            Now: <Clock at={now} dated />
          </p>
        </div>
      </section>
      <ul className="places">
        {places
          .filter((one) => owner || !("owner" in one))
          .map(({ to, Icon, name, what }) => (
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
