import {
  BellOff,
  BellRing,
  CircleCheck,
  Gavel,
  type LucideIcon,
  MessageSquareText,
  PencilLine,
  TrendingUp,
  UserRoundCheck,
} from "lucide-react";
import { KnownThen } from "../known/ways";
import { StateIcon } from "../ui/StateIcon";
import { Clock } from "../ui/time";
import { t } from "../words/t";
import type { Line, LineKind } from "./timeline";

const icons: Partial<Record<LineKind, LucideIcon>> = {
  opened: Gavel,
  severity: TrendingUp,
  note: MessageSquareText,
  acknowledged: UserRoundCheck,
  notified: BellRing,
  resolved: CircleCheck,
  corrected: PencilLine,
};

const decided: readonly LineKind[] = ["opened", "severity", "corrected", "resolved"];

/** What happened, in order: what regions saw, what was made of it, who was told, and what people say. */
export function Timeline({ lines, more, target }: { lines: Line[]; more: boolean; target: number }) {
  return (
    <section className="card" aria-labelledby="timeline">
      <div className="card-head">
        <h2 id="timeline">{t("Timeline")}</h2>
      </div>
      <ol className="timeline">
        {lines.map((line) => {
          const Icon = line.bad ? BellOff : (icons[line.kind] ?? null);
          return (
            <li key={line.key} data-kind={line.kind} data-bad={line.bad || undefined}>
              <span className="timeline-icon">
                {line.state ? <StateIcon state={line.state} size={18} /> : Icon && <Icon size={17} aria-hidden />}
              </span>
              <div>
                <b>{line.title}</b>
                {line.text && <p className={line.kind === "note" ? "note" : "said"}>{line.text}</p>}
              </div>
              <span className="timeline-at">
                <Clock at={line.at} dated />
                {decided.includes(line.kind) && <KnownThen target={target} at={line.at} />}
              </span>
            </li>
          );
        })}
      </ol>
      {more && <p className="pad muted">{t("Only the first 100 confirmations are shown.")}</p>}
    </section>
  );
}
