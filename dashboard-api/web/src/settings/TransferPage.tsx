import { Download } from "lucide-react";
import { exportPath } from "../api/transfer";
import { useSession } from "../app/useSelf";
import { t } from "../words/t";
import { ImportCard } from "./ImportCard";
import { SettingsTabs } from "./SettingsTabs";
import "../styles/settings.css";
import "../styles/dialog.css";
import "../styles/transfer.css";

/** Targets as a file. */
export function TransferPage() {
  const viewer = useSession()?.role === "viewer";
  return (
    <div className="page">
      <div className="page-head">
        <div>
          <h1>{t("Import and export")}</h1>
          <p className="muted">{t("Targets as a file: to keep, or to make many at once.")}</p>
        </div>
      </div>
      <SettingsTabs />
      <section className="card" aria-labelledby="export">
        <div className="card-head">
          <div>
            <h2 id="export">{t("Export")}</h2>
            <p className="muted">
              {t(
                "All targets. JSON has every setting but secrets, which stand as [secret]; CSV has what fits into a table.",
              )}
            </p>
          </div>
          <div className="row push">
            <a className="btn" href={exportPath("json")} download>
              <Download size={15} aria-hidden /> {t("JSON")}
            </a>
            <a className="btn" href={exportPath("csv")} download>
              <Download size={15} aria-hidden /> {t("CSV")}
            </a>
          </div>
        </div>
      </section>
      {viewer ? (
        <section className="card">
          <p className="pad muted">{t("You may look, but not change targets: ask an editor to import.")}</p>
        </section>
      ) : (
        <ImportCard />
      )}
    </div>
  );
}
