import { ShieldAlert } from "lucide-react";
import { t } from "../words/t";

/** Wherever a target is shown or edited whose certificate is taken as it is. */
export function Unverified() {
  return (
    <div className="banner warn">
      <ShieldAlert size={17} aria-hidden className="s-degraded" />
      <p>{t("The certificate is not verified: whoever answers is believed.")}</p>
    </div>
  );
}
