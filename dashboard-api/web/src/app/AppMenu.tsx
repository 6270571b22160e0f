import { CircleUser, Keyboard, LogOut, Monitor, Moon, Sun } from "lucide-react";
import { api } from "../api/endpoints";
import type { User } from "../api/types";
import { Menu, MenuChoice, MenuItem } from "../ui/Menu";
import { t } from "../words/t";
import { useTheme, useZone } from "./preferences";
import { useSettle } from "./toasts";

const themes = [
  { value: "system", label: t("System"), icon: <Monitor size={16} aria-hidden /> },
  { value: "light", label: t("Light"), icon: <Sun size={16} aria-hidden /> },
  { value: "dark", label: t("Dark"), icon: <Moon size={16} aria-hidden /> },
] as const;
const zones = [
  { value: "local", label: t("Browser time") },
  { value: "utc", label: "UTC" },
] as const;

export function AppMenu({ user, onHelp }: { user: User | null; onHelp: () => void }) {
  const [theme, setTheme] = useTheme();
  const [zone, setZone] = useZone();
  const settle = useSettle();
  const logOut = async () => {
    await settle(); // what waits to be deleted is, while this session still may
    await api.logout().catch(() => undefined);
    location.assign("/login"); // a full load forgets everything that was shown
  };
  return (
    <Menu label={t("Menu")} icon={<CircleUser size={19} aria-hidden />}>
      {user && <div className="menu-label cut">{user.email}</div>}
      <MenuChoice label={t("Theme")} value={theme} options={themes} onChange={setTheme} />
      <MenuChoice label={t("Times")} value={zone} options={zones} onChange={setZone} />
      <hr />
      <MenuItem icon={<Keyboard size={16} aria-hidden />} onSelect={onHelp}>
        {t("Keyboard shortcuts")}
      </MenuItem>
      {user && (
        <MenuItem icon={<LogOut size={16} aria-hidden />} onSelect={() => void logOut()}>
          {t("Sign out")}
        </MenuItem>
      )}
    </Menu>
  );
}
