import { Link } from "@tanstack/react-router";
import { Activity, Ellipsis, Pause, Pencil, Play, Trash2 } from "lucide-react";
import { memo } from "react";
import type { TargetFigures } from "../api/figures";
import { useTargetView } from "../app/live";
import type { TargetView } from "../live/store";
import { KindBadge } from "../ui/KindBadge";
import { Menu, MenuItem } from "../ui/Menu";
import { RegionDots } from "../ui/RegionDots";
import { StateIcon } from "../ui/StateIcon";
import { Tags } from "../ui/Tags";
import { Ticks } from "../ui/Ticks";
import { Ago } from "../ui/time";
import { whyWords } from "../ui/why";
import { latency, shortUrl, stateWords } from "../ui/words";
import { Rich } from "../words/Rich";
import { t } from "../words/t";
import { Figures } from "./Figures";

export interface RowActions {
  onToggle: (target: TargetView) => void;
  onEdit: (target: TargetView) => void;
  onDelete: (target: TargetView) => void;
  onTest: (target: TargetView) => void;
  /** Of which group is told where there are any. */
  onSelect: (id: number, range: boolean, group?: string | null) => void;
}

const FLASH_MS = 2_000;

export const TargetRow = memo(function TargetRow({
  id,
  actions,
  selected,
  figures,
  group,
}: {
  id: number;
  actions: RowActions | null;
  selected: boolean;
  figures: TargetFigures | undefined;
  group: string | null | undefined;
}) {
  const target = useTargetView(id);
  if (!target) return null;
  const justChanged = target.changedAt > 0 && Date.now() - target.changedAt < FLASH_MS;
  const word = <span className={`word s-${target.state}`}>{stateWords[target.state]}</span>;
  return (
    <>
      {justChanged && <span key={target.changedAt} className={`flash f-${target.state}`} />}
      {actions && (
        <input
          type="checkbox"
          className="pick"
          aria-label={t("Select {name}", { name: target.name })}
          checked={selected}
          onClick={(event) => actions.onSelect(id, event.shiftKey, group)}
          onChange={() => {}}
        />
      )}
      <StateIcon state={target.state} size={22} />
      <div className="who">
        <Link
          to="/targets/$id"
          params={{ id: String(id) }}
          className="name cut"
          data-row={id}
          title={whyWords(target.why, target.because) || undefined}
        >
          {target.name}
        </Link>
        <div className="sub cut">
          {target.since && target.state !== "paused" ? (
            <Rich text="{state} for {time}" state={word} time={<Ago at={target.since} bare />} />
          ) : (
            word
          )}
          {target.tags.length > 0 && " · "}
          <Tags of={target.tags} />
          <span className="url">
            {" · "}
            <KindBadge kind={target.kind} />
            <bdi dir="ltr">{shortUrl(target.url)}</bdi>
          </span>
        </div>
      </div>
      <div className="bar">
        <Ticks slots={target.slots} maintained={target.maintained} came={justChanged ? target.changedAt : undefined} />
      </div>
      <div className="regions">
        <RegionDots kind={target.kind} state={target.state} regions={target.region_states} />
      </div>
      <div className="p50">
        <span className="sr">{t("Median response")} </span>
        {latency(target.p50_us)}
      </div>
      <Figures of={figures} />
      {actions && <RowMenu target={target} actions={actions} />}
    </>
  );
});

function RowMenu({ target, actions }: { target: TargetView; actions: RowActions }) {
  return (
    <Menu label={t("Actions for {name}", { name: target.name })} icon={<Ellipsis size={18} aria-hidden />}>
      <MenuItem
        icon={target.active ? <Pause size={16} aria-hidden /> : <Play size={16} aria-hidden />}
        onSelect={() => actions.onToggle(target)}
      >
        {target.active ? t("Pause") : t("Resume")}
      </MenuItem>
      {target.kind !== "heartbeat" && (
        <MenuItem icon={<Activity size={16} aria-hidden />} onSelect={() => actions.onTest(target)}>
          {t("Test now")}
        </MenuItem>
      )}
      <MenuItem icon={<Pencil size={16} aria-hidden />} onSelect={() => actions.onEdit(target)}>
        {t("Edit")}
      </MenuItem>
      <hr />
      <MenuItem icon={<Trash2 size={16} aria-hidden />} danger onSelect={() => actions.onDelete(target)}>
        {t("Delete")}
      </MenuItem>
    </Menu>
  );
}
