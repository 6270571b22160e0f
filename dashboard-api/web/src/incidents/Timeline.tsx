import { Link } from "@tanstack/react-router";
import {
  BellOff,
  BellRing,
  CircleCheck,
  Gavel,
  type LucideIcon,
  Megaphone,
  MessageSquareText,
  PencilLine,
  TrendingUp,
  UserRoundCheck,
} from "lucide-react";
import type { PublicUpdate } from "../api/incidents";
import { KnownThen } from "../known/ways";
import { Shown } from "../statuspages/MarkdownField";
import { postStateWords } from "../statuspages/posts";
import { StateIcon } from "../ui/StateIcon";
import { Clock } from "../ui/time";
import { t } from "../words/t";
import type { Line, LineKind } from "./timeline";

const icons: Partial<Record<LineKind, LucideIcon>> = {
  opened: Gavel,
  severity: TrendingUp,
  note: MessageSquareText,
  told: Megaphone,
  acknowledged: UserRoundCheck,
  notified: BellRing,
  resolved: CircleCheck,
  corrected: PencilLine,
};

const decided: readonly LineKind[] = ["opened", "severity", "corrected", "resolved"];

/** What happened, in order: what regions saw, what was made of it, who was told, and what people say, to each other and in public. */
export function Timeline({ lines, cut, target }: { lines: Line[]; cut: readonly string[]; target: number }) {
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
                {line.update ? (
                  <Told update={line.update} />
                ) : (
                  line.text && <p className={line.kind === "note" ? "note" : "said"}>{line.text}</p>
                )}
              </div>
              <span className="timeline-at">
                <Clock at={line.at} dated />
                {decided.includes(line.kind) && <KnownThen target={target} at={line.at} />}
              </span>
            </li>
          );
        })}
      </ol>
      {cut.map((what) => (
        <p key={what} className="pad muted">
          {what}
        </p>
      ))}
    </section>
  );
}

/** What readers of a status page were told, as they see it, and the way to all of it. */
function Told({ update }: { update: PublicUpdate }) {
  const params = { id: String(update.page_id), post: String(update.post_id) };
  return (
    <>
      <p className="said">
        <Link className="link" to="/settings/pages/$id/posts/$post" params={params}>
          {update.post}
        </Link>
        {(update.kind === "incident" || update.state === "resolved") && ` · ${postStateWords[update.state]}`}
      </p>
      <div className="note told">
        <Shown text={update.text} />
      </div>
      {!update.published && <p className="said">{t("Nobody sees it: the page is a draft.")}</p>}
    </>
  );
}
