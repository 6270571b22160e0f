import { Link } from "@tanstack/react-router";
import {
  BellRing,
  CircleUser,
  FileText,
  FileUp,
  Globe,
  KeyRound,
  Radio,
  ScrollText,
  Users,
  Wrench,
} from "lucide-react";
import { type Theme, useLanguage, useTheme, useZone, type Zone } from "../app/preferences";
import { useSession } from "../app/useSelf";
import { Choice } from "../targetform/HeartbeatFields";
import { Field } from "../ui/Field";
import { Clock, useNow } from "../ui/time";
import { RetentionCard } from "./RetentionCard";
import { SettingsTabs } from "./SettingsTabs";
import "../styles/dialog.css";
import "../styles/settings.css";
import { Rich } from "../words/Rich";
import { type Language, languages, t } from "../words/t";

const places = [
  {
    to: "/settings/account",
    Icon: CircleUser,
    name: t("Your account"),
    what: t("Password, second factor, where you are signed in."),
  },
  { to: "/settings/people", Icon: Users, name: t("People"), what: t("Who may come in, and as what."), owner: true },
  { to: "/settings/keys", Icon: KeyRound, name: t("API keys"), what: t("What programs sign in with.") },
  {
    to: "/settings/channels",
    Icon: Radio,
    name: t("Channels"),
    what: t("Where messages go: mail, chat, on-call services."),
  },
  {
    to: "/settings/rules",
    Icon: BellRing,
    name: t("Notification rules"),
    what: t("Which incidents are told to whom, and when."),
  },
  { to: "/settings/pages", Icon: Globe, name: t("Status pages"), what: t("What everybody may see, in your words.") },
  { to: "/maintenance", Icon: Wrench, name: t("Maintenance"), what: t("When nobody is to be told.") },
  { to: "/reports", Icon: FileText, name: t("Reports"), what: t("A month of all targets, to read or print.") },
  {
    to: "/settings/transfer",
    Icon: FileUp,
    name: t("Import and export"),
    what: t("Targets as a file: to keep, or to make many at once."),
  },
  { to: "/settings/audit", Icon: ScrollText, name: t("Audit log"), what: t("Who changed what."), owner: true },
] as const;

/** How this browser shows things, and the way to what is set for everybody. */
export function SettingsPage() {
  const owner = useSession()?.role === "owner";
  const [theme, setTheme] = useTheme();
  const [zone, setZone] = useZone();
  const [language, setLanguage] = useLanguage();
  const now = useNow();
  return (
    <div className="page">
      <div className="page-head">
        <div>
          <h1>{t("Settings")}</h1>
          <p className="muted">{t("How this browser shows things, and the way to everything else.")}</p>
        </div>
      </div>
      <SettingsTabs />
      <section className="card" aria-labelledby="appearance">
        <div className="card-head">
          <h2 id="appearance">{t("Appearance")}</h2>
          <span className="muted">{t("kept in this browser")}</span>
        </div>
        <div className="pad stack">
          <div className="two">
            <Choice<Theme>
              label={t("Theme")}
              value={theme}
              options={[
                ["system", t("System")],
                ["light", t("Light")],
                ["dark", t("Dark")],
              ]}
              onChange={setTheme}
            />
            <Choice<Zone>
              label={t("Times")}
              value={zone}
              options={[
                ["local", t("Browser time")],
                ["utc", "UTC"],
              ]}
              onChange={setZone}
            />
            <Field label={t("Language")} hint={t("A choice loads the page again.")}>
              {(bound) => (
                <select
                  {...bound}
                  className="input"
                  value={language}
                  onChange={(event) => setLanguage(event.target.value as Language | "")}
                >
                  <option value="">{t("The browser's own")}</option>
                  {Object.entries(languages).map(([code, name]) => (
                    <option key={code} value={code} lang={code}>
                      {name}
                    </option>
                  ))}
                </select>
              )}
            </Field>
          </div>
          <p className="muted">
            <Rich text="Now: {time}" time={<Clock at={now} dated />} />
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
      <RetentionCard />
    </div>
  );
}
