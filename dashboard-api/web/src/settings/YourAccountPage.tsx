import { FactorCard } from "./FactorCard";
import { PasskeysCard } from "./PasskeysCard";
import { PasswordCard } from "./PasswordCard";
import { ProfileCard } from "./ProfileCard";
import { SessionsCard } from "./SessionsCard";
import { SettingsTabs } from "./SettingsTabs";
import "../styles/settings.css";
import "../styles/people.css";
import { t } from "../words/t";

/** Who I am here, how I sign in, and where I am signed in. */
export function YourAccountPage() {
  return (
    <div className="page">
      <div className="page-head">
        <div>
          <h1>{t("Your account")}</h1>
          <p className="muted">{t("Who you are here, how you sign in, and where you are signed in.")}</p>
        </div>
      </div>
      <SettingsTabs />
      <div className="settings-grid even">
        <ProfileCard />
        <PasswordCard />
      </div>
      <PasskeysCard />
      <FactorCard />
      <SessionsCard />
    </div>
  );
}
