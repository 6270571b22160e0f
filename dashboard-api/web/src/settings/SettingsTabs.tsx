import { Link } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { useSession } from "../app/useSelf";
import { t } from "../words/t";

export function SettingsTabs() {
  const owner = useSession()?.role === "owner";
  const nav = useRef<HTMLElement>(null);
  useEffect(() => {
    // On a small screen the open tab may be out of sight.
    nav.current?.querySelector("[aria-current=page]")?.scrollIntoView({ block: "nearest", inline: "center" });
  }, []);
  return (
    <nav ref={nav} className="tabs" aria-label={t("Settings")}>
      <Link to="/settings" activeOptions={{ exact: true }}>
        {t("General")}
      </Link>
      <Link to="/settings/account">{t("Your account")}</Link>
      {owner && <Link to="/settings/people">{t("People")}</Link>}
      <Link to="/settings/keys">{t("API keys")}</Link>
      <Link to="/settings/channels">{t("Channels")}</Link>
      <Link to="/settings/rules">{t("Notification rules")}</Link>
      <Link to="/settings/pages">{t("Status pages")}</Link>
      <Link to="/settings/transfer">{t("Import and export")}</Link>
      {owner && <Link to="/settings/audit">{t("Audit log")}</Link>}
    </nav>
  );
}
