import { ArrowDown, ArrowUp, ChevronRight, Ellipsis, GripVertical, Trash2 } from "lucide-react";
import { type KeyboardEvent, useRef } from "react";
import type { PageState } from "../api/statusPages";
import { useList, useLive } from "../app/live";
import { Menu, MenuItem } from "../ui/Menu";
import type { Problems } from "../ui/problems";
import { StateIcon } from "../ui/StateIcon";
import { stateWords } from "../ui/words";
import { t } from "../words/t";
import { ComponentFields } from "./ComponentFields";
import type { ComponentDraft } from "./draft";
import { boundTo, stateOf } from "./fold";

/** What it is, and of how many targets. */
function about({ rule }: ComponentDraft, n: number, now: PageState): string {
  const state = stateWords[now];
  if (rule === "manual") return t("{state}, stated by hand", { state });
  if (n === 0) return t("{state}, no target yet", { state });
  return rule === "majority"
    ? t("{n, plural, one {{state}, one target} other {{state}, majority of # targets}}", { n, state })
    : t("{n, plural, one {{state}, one target} other {{state}, worst of # targets}}", { n, state });
}

/** A component as a line, which opens to be edited and moves by its handle. */
export function ComponentRow({
  component,
  pointer,
  problems,
  open,
  dragged,
  mark,
  onOpen,
  onChange,
  onStep,
  onRemove,
  onDrag,
  onOver,
  onDragEnd,
}: {
  component: ComponentDraft;
  pointer: string;
  problems: Problems;
  open: boolean;
  dragged: boolean;
  /** What is dragged would come to stand here. */
  mark: "before" | "after" | null;
  onOpen: (open: boolean) => void;
  onChange: (change: Partial<ComponentDraft>) => void;
  onStep: (by: -1 | 1) => void;
  onRemove: () => void;
  onDrag: () => void;
  onOver: (after: boolean) => void;
  onDragEnd: () => void;
}) {
  const { store } = useLive();
  useList(); // states change
  const row = useRef<HTMLLIElement>(null);
  const wrong = Object.keys(problems).some((at) => at.startsWith(`${pointer}/`));
  const shown = open || wrong;
  const targets = boundTo(component, store.all());
  const state = stateOf({ ...component, targets }, (id) => store.get(id)?.state);
  const name = component.name || t("New component");
  const onKey = (event: KeyboardEvent) => {
    if (event.key !== "ArrowUp" && event.key !== "ArrowDown") return;
    event.preventDefault();
    onStep(event.key === "ArrowUp" ? -1 : 1);
  };
  return (
    <li
      ref={row}
      className="component"
      data-component={component.name}
      data-dragged={dragged || undefined}
      data-mark={mark ?? undefined}
      onDragOver={(event) => {
        const box = event.currentTarget.getBoundingClientRect();
        onOver(event.clientY > box.top + box.height / 2);
      }}
    >
      <div className="component-line">
        <button
          type="button"
          className="icon-btn handle"
          draggable
          data-handle={component.key}
          aria-label={t("Move {name}: arrow up or down", { name })}
          title={t("Drag, or press an arrow key")}
          onKeyDown={onKey}
          onDragStart={(event) => {
            event.dataTransfer.effectAllowed = "move";
            event.dataTransfer.setData("text/plain", name);
            if (row.current) event.dataTransfer.setDragImage(row.current, 12, 18);
            onDrag();
          }}
          onDragEnd={onDragEnd}
        >
          <GripVertical size={16} aria-hidden />
        </button>
        <StateIcon state={state} size={18} />
        <button type="button" className="component-name" aria-expanded={shown} onClick={() => onOpen(!shown)}>
          <b className="cut">{name}</b>
          <span className="muted cut">{about(component, targets.length, state)}</span>
          <ChevronRight size={16} aria-hidden />
        </button>
        <Menu label={t("Actions for {name}", { name })} icon={<Ellipsis size={18} aria-hidden />}>
          <MenuItem icon={<ArrowUp size={16} aria-hidden />} onSelect={() => onStep(-1)}>
            {t("Move up")}
          </MenuItem>
          <MenuItem icon={<ArrowDown size={16} aria-hidden />} onSelect={() => onStep(1)}>
            {t("Move down")}
          </MenuItem>
          <MenuItem icon={<Trash2 size={16} aria-hidden />} danger onSelect={onRemove}>
            {t("Remove")}
          </MenuItem>
        </Menu>
      </div>
      {shown && <ComponentFields component={component} pointer={pointer} problems={problems} onChange={onChange} />}
    </li>
  );
}
