import { TriangleAlert } from "lucide-react";
import type { RowFigures, TargetFigures } from "../api/figures";
import { useLive } from "../app/live";
import { percent } from "../ui/words";
import { t } from "../words/t";
import { daysLeft, known } from "./figures";

/** Uptime and certificate of a row. Their places are there before they come. */
export function Figures({ of }: { of: TargetFigures | undefined }) {
  return (
    <>
      <div className="fig">{of && <Uptime label={t("Uptime, 24 hours")} of={of.last_24h} />}</div>
      <div className="fig">{of && <Uptime label={t("Uptime, 30 days")} of={of.last_30d} />}</div>
      <div className="fig">{of?.cert_not_after && <Certificate until={of.cert_not_after} />}</div>
    </>
  );
}

function Uptime({ label, of }: { label: string; of: RowFigures }) {
  return (
    <>
      <span className="sr">{label} </span>
      {known(of) ? (
        percent(of.uptime)
      ) : (
        <>
          <span aria-hidden>–</span>
          <span className="sr">{t("Unknown")}</span>
        </>
      )}
    </>
  );
}

function Certificate({ until }: { until: string }) {
  const { store } = useLive();
  const { days, few } = daysLeft(until, store.serverNow());
  return (
    <span className={few ? "few" : undefined}>
      <span className="sr">{t(days < 0 ? "Certificate" : few ? "Certificate ends soon" : "Certificate left")} </span>
      {few && <TriangleAlert size={14} aria-hidden />} {days < 0 ? t("ended") : t("{d} d", { d: days })}
    </span>
  );
}
