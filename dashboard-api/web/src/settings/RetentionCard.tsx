import { useQuery } from "@tanstack/react-query";
import { api } from "../api/endpoints";
import type { Retention } from "../api/types";
import { ErrorNote } from "../ui/ErrorNote";
import { duration } from "../ui/words";
import { t } from "../words/t";

const tiers: { of: keyof Retention; variable: string; what: string }[] = [
  { of: "results_h", variable: "RETENTION_RAW", what: t("Every result, with its phases") },
  { of: "hourly_h", variable: "RETENTION_HOURLY", what: t("Figures of hours: counts, percentiles, phases") },
  { of: "daily_h", variable: "RETENTION_DAILY", what: t("Figures of days") },
];

/** How long history is kept. It is read here, and set where the programs are. */
export function RetentionCard() {
  const kept = useQuery({ queryKey: ["retention"], queryFn: api.retention });
  return (
    <section className="card" aria-labelledby="retention">
      <div className="card-head">
        <div>
          <h2 id="retention">{t("How long history is kept")}</h2>
          <p className="muted">
            {t("Set by these variables where the programs run. A tier outlives the one it is made from.")}
          </p>
        </div>
      </div>
      {kept.error && !kept.data && <ErrorNote error={kept.error} onRetry={() => void kept.refetch()} />}
      <table className="retention">
        <thead>
          <tr>
            <th scope="col">{t("What")}</th>
            <th scope="col" className="num">
              {t("Kept for")}
            </th>
          </tr>
        </thead>
        <tbody>
          {tiers.map(({ of, variable, what }) => (
            <tr key={of}>
              <td>
                {what} <code className="muted">{variable}</code>
              </td>
              <td className="num">{kept.data ? duration(kept.data[of] * 3600) : "–"}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
