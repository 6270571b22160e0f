import { Link } from "@tanstack/react-router";
import { Wrench } from "lucide-react";
import type { MaintenanceWindow } from "../api/maintenance";
import { useTargetView } from "../app/live";
import { Tags } from "../ui/Tags";
import { Ago, Clock, useNow } from "../ui/time";
import { Unreadable } from "../ui/Unreadable";
import { count, duration } from "../ui/words";
import { Rich } from "../words/Rich";
import { t } from "../words/t";
import { ruleWord } from "./draft";

/** Windows under one heading; nothing at all when there are none. */
export function WindowList({
  kind,
  title,
  windows,
  acts,
}: {
  kind: "now" | "upcoming" | "past";
  title: string;
  windows: readonly MaintenanceWindow[];
  /** Null: for who may only look, and of what is over. */
  acts: { onEdit: (one: MaintenanceWindow) => void; onRemove: (one: MaintenanceWindow) => void } | null;
}) {
  if (windows.length === 0) return null;
  return (
    <section className="card" aria-label={title} data-windows={kind}>
      <div className="card-head">
        <h2>{title}</h2>
        <span className="muted">{count(windows.length)}</span>
      </div>
      <ul className="windows">
        {windows.map((one) => (
          <li key={one.id} className="window" data-active={one.active || undefined}>
            <span className="window-icon">
              <Wrench size={17} aria-hidden />
            </span>
            <div>
              <b>{one.name}</b>
              {one.starts_at && (
                <p className="muted">
                  <Scope window={one} /> · {ruleWord(one.rrule)} · {one.zone}
                </p>
              )}
              <Unreadable why={one.unreadable} />
            </div>
            <div className="window-when">
              <When window={one} />
            </div>
            {acts && (
              <div className="window-acts">
                {!one.unreadable && (
                  <button type="button" className="btn" onClick={() => acts.onEdit(one)}>
                    <Rich
                      text="Edit<sr> {name}</sr>"
                      sr={(inner) => <span className="sr">{inner}</span>}
                      name={one.name}
                    />
                  </button>
                )}
                <button type="button" className="btn" onClick={() => acts.onRemove(one)}>
                  <Rich
                    text={one.active ? "End<sr> {name}</sr>" : "Remove<sr> {name}</sr>"}
                    sr={(inner) => <span className="sr">{inner}</span>}
                    name={one.name}
                  />
                </button>
              </div>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

function Scope({ window: one }: { window: MaintenanceWindow }) {
  const target = useTargetView(one.target_id ?? 0);
  if (one.everything) return t("All targets");
  if (one.tags.length > 0) return <Tags of={one.tags} most={one.tags.length} />;
  if (one.target_id === null) return t("Nothing");
  return (
    <Link className="link" to="/targets/$id" params={{ id: String(one.target_id) }}>
      {target?.name ?? t("Target {id}", { id: one.target_id })}
    </Link>
  );
}

function When({ window: one }: { window: MaintenanceWindow }) {
  const now = useNow();
  if (one.ended_at) return <Rich text="Ended {time}" time={<Ago at={one.ended_at} />} />;
  if (one.active && one.next_to) {
    return (
      <>
        <b>{t("In maintenance")}</b>
        <p className="muted">
          <Rich text="until {time}" time={<Clock at={one.next_to} dated />} />
        </p>
      </>
    );
  }
  if (!one.next_from && !one.starts_at) return null; // it cannot be read when
  if (!one.next_from) return t("Over, began {time}", { time: one.starts_at.replace("T", " ").slice(0, 16) });
  return (
    <>
      {t("in {time}", { time: duration((Date.parse(one.next_from) - now) / 1000) })}
      <p className="muted">
        <Rich text="{start}, for {time}" start={<Clock at={one.next_from} dated />} time={duration(one.duration_s)} />
      </p>
    </>
  );
}
