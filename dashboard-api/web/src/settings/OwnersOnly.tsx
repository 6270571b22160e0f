import { Lock } from "lucide-react";
import type { ReactNode } from "react";
import { useSession } from "../app/useSelf";
import { t } from "../words/t";

/** What owners see; others are told whom to ask. */
export function OwnersOnly({ children }: { children: ReactNode }) {
  if (useSession()?.role === "owner") return children;
  return (
    <div className="card empty">
      <Lock size={28} aria-hidden className="muted" />
      <h2>{t("Only owners see this")}</h2>
      <p>{t("Ask an owner of this installation to look, or to make you one.")}</p>
    </div>
  );
}
