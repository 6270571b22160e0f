import { Link } from "@tanstack/react-router";
import { Wrench } from "lucide-react";
import type { MaintenanceWindow } from "../api/maintenance";
import { useTargetView } from "../app/live";
import { Ago, Clock, useNow } from "../ui/time";
import { duration } from "../ui/words";
import { ruleWord } from "./draft";

/** Windows under one heading; nothing at all when there are none. */
export function WindowList({
  title,
  windows,
  onRemove,
}: {
  title: string;
  windows: readonly MaintenanceWindow[];
  onRemove: ((one: MaintenanceWindow) => void) | null;
}) {
  if (windows.length === 0) return null;
  return (
    <section className="card" aria-label={title} data-windows={title.toLowerCase()}>
      <div className="card-head">
        <h2>{title}</h2>
        <span className="muted">{windows.length}</span>
      </div>
      <ul className="windows">
        {windows.map((one) => (
          <li key={one.id} className="window" data-active={one.active || undefined}>
            <span className="window-icon">
              <Wrench size={17} aria-hidden />
            </span>
            <div>
              <b>{one.name}</b>
              <p className="muted">
                <Scope window={one} /> · {ruleWord(one.rrule)} · {one.zone}
              </p>
            </div>
            <div className="window-when">
              <When window={one} />
            </div>
            {onRemove && (
              <button type="button" className="btn" onClick={() => onRemove(one)}>
                {one.active ? "End" : "Remove"}
                <span className="sr"> {one.name}</span>
              </button>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

function Scope({ window: one }: { window: MaintenanceWindow }) {
  const target = useTargetView(one.target_id ?? 0);
  if (one.everything) return <>All targets</>;
  if (one.target_id === null) return <>Nothing</>;
  return (
    <Link className="link" to="/targets/$id" params={{ id: String(one.target_id) }}>
      {target?.name ?? `Target ${one.target_id}`}
    </Link>
  );
}

function When({ window: one }: { window: MaintenanceWindow }) {
  const now = useNow();
  if (one.ended_at) {
    return (
      <>
        Ended <Ago at={one.ended_at} />
      </>
    );
  }
  if (one.active && one.next_to) {
    return (
      <>
        <b>In maintenance</b>
        <p className="muted">
          until <Clock at={one.next_to} dated />
        </p>
      </>
    );
  }
  if (!one.next_from) return <>Over, began {one.starts_at.replace("T", " ").slice(0, 16)}</>;
  return (
    <>
      in {duration((Date.parse(one.next_from) - now) / 1000)}
      <p className="muted">
        <Clock at={one.next_from} dated />, for {duration(one.duration_s)}
      </p>
    </>
  );
}
