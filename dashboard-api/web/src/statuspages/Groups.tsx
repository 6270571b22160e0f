import { ArrowDown, ArrowUp, Ellipsis, Hand, Plus, Trash2 } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { useAnnounce } from "../app/announcer";
import { useLive } from "../app/live";
import { Field } from "../ui/Field";
import { Menu, MenuItem } from "../ui/Menu";
import type { Problems } from "../ui/problems";
import { TargetPicker } from "../ui/TargetPicker";
import { t } from "../words/t";
import { ComponentRow } from "./ComponentRow";
import {
  type ComponentDraft,
  type GroupDraft,
  moved,
  movedGroup,
  newComponent,
  newGroup,
  type Place,
  step,
} from "./draft";

/** Groups of components, in the order in which the page shows them. */
export function Groups({
  groups,
  problems,
  onChange,
}: {
  groups: GroupDraft[];
  problems: Problems;
  onChange: (groups: GroupDraft[]) => void;
}) {
  const announce = useAnnounce();
  const [open, setOpen] = useState<string | null>(null);
  const [dragged, setDragged] = useState<Place | null>(null);
  const [over, setOver] = useState<Place | null>(null);
  const section = useRef<HTMLElement>(null);
  const follow = useRef<string | null>(null); // whose handle has the focus when it has moved
  // biome-ignore lint/correctness/useExhaustiveDependencies: after every new order
  useEffect(() => {
    if (follow.current) section.current?.querySelector<HTMLElement>(`[data-handle="${follow.current}"]`)?.focus();
    follow.current = null;
  }, [groups]);

  const change = (at: number, group: Partial<GroupDraft>) =>
    onChange(groups.map((one, i) => (i === at ? { ...one, ...group } : one)));
  const changeComponent = ({ group, at }: Place, next: Partial<ComponentDraft>) =>
    change(group, {
      components: groups[group]?.components.map((one, i) => (i === at ? { ...one, ...next } : one)) ?? [],
    });
  const add = (group: number, component: ComponentDraft) => {
    setOpen(component.key);
    if (groups.length === 0) return onChange([{ ...newGroup(), components: [component] }]);
    change(group, { components: [...(groups[group]?.components ?? []), component] });
  };
  const move = (from: Place, to: Place | null) => {
    const taken = groups[from.group]?.components[from.at];
    if (!taken || !to) return;
    const next = moved(groups, from, to);
    follow.current = taken.key;
    onChange(next);
    const group = next[to.group];
    const at = group?.components.findIndex((one) => one.key === taken.key) ?? 0;
    announce(
      t(
        "{named, select, yes {{name}} other {The component}} is now {at} of {n}{grouped, select, yes { in {group}} other {}}.",
        {
          named: taken.name ? "yes" : "no",
          name: taken.name,
          at: at + 1,
          n: group?.components.length ?? 0,
          grouped: group?.name ? "yes" : "no",
          group: group?.name,
        },
      ),
    );
  };
  const drop = () => {
    if (dragged && over) move(dragged, over);
    setDragged(null);
    setOver(null);
  };

  return (
    <section className="card" aria-labelledby="components" ref={section}>
      <div className="card-head">
        <h2 id="components">{t("Components")}</h2>
        <span className="muted">{t("What readers see, by the names they know.")}</span>
      </div>
      {problems["/groups"] && (
        <p className="banner bad" role="alert" tabIndex={-1}>
          {problems["/groups"]}
        </p>
      )}
      {groups.length === 0 && (
        <div className="pad stack">
          <p className="muted">
            {t("Choose a target that readers depend on. It becomes a component, and you say what they call it.")}
          </p>
          <Adding label={t("Target of the first component")} onAdd={(one) => add(0, one)} />
        </div>
      )}
      {groups.map((group, i) => (
        // biome-ignore lint/a11y/noStaticElementInteractions: a place to drop on; the keys are those of the handles
        <div
          key={group.key}
          className="group-edit"
          onDragOver={(event) => {
            if (!dragged) return;
            event.preventDefault();
            if (event.target === event.currentTarget) setOver({ group: i, at: group.components.length });
          }}
          onDrop={(event) => {
            event.preventDefault();
            drop();
          }}
        >
          <div className="group-head">
            <Field label={t("Heading of group {n}", { n: i + 1 })} error={problems[`/groups/${i}/name`]}>
              {(bound) => (
                <input
                  {...bound}
                  className="input"
                  placeholder={t("No heading")}
                  value={group.name}
                  onChange={(event) => change(i, { name: event.target.value })}
                />
              )}
            </Field>
            <Menu
              label={t("Actions for group {name}", { name: group.name || i + 1 })}
              icon={<Ellipsis size={18} aria-hidden />}
            >
              {i > 0 && (
                <MenuItem
                  icon={<ArrowUp size={16} aria-hidden />}
                  onSelect={() => onChange(movedGroup(groups, i, i - 1))}
                >
                  {t("Move up")}
                </MenuItem>
              )}
              {i < groups.length - 1 && (
                <MenuItem
                  icon={<ArrowDown size={16} aria-hidden />}
                  onSelect={() => onChange(movedGroup(groups, i, i + 2))}
                >
                  {t("Move down")}
                </MenuItem>
              )}
              <MenuItem
                icon={<Trash2 size={16} aria-hidden />}
                danger
                onSelect={() => onChange(groups.filter((one) => one !== group))}
              >
                {t("Remove with its components")}
              </MenuItem>
            </Menu>
          </div>
          <ul className="components">
            {group.components.map((component, j) => (
              <ComponentRow
                key={component.key}
                component={component}
                pointer={`/groups/${i}/components/${j}`}
                problems={problems}
                open={open === component.key}
                dragged={dragged?.group === i && dragged.at === j}
                mark={over?.group === i ? (over.at === j ? "before" : over.at === j + 1 ? "after" : null) : null}
                onOpen={(now) => setOpen(now ? component.key : null)}
                onChange={(next) => changeComponent({ group: i, at: j }, next)}
                onStep={(by) => move({ group: i, at: j }, step(groups, { group: i, at: j }, by))}
                onRemove={() => change(i, { components: group.components.filter((one) => one !== component) })}
                onDrag={() => setDragged({ group: i, at: j })}
                onOver={(after) => dragged && setOver({ group: i, at: after ? j + 1 : j })}
                onDragEnd={() => {
                  setDragged(null);
                  setOver(null);
                }}
              />
            ))}
          </ul>
          <Adding
            label={
              group.name ? t("Add a component to {group}", { group: group.name }) : t("Add a component to this group")
            }
            onAdd={(component) => add(i, component)}
          />
        </div>
      ))}
      {groups.length > 0 && (
        <div className="more">
          <button type="button" className="btn plain" onClick={() => onChange([...groups, newGroup()])}>
            <Plus size={15} aria-hidden /> {t("Add group")}
          </button>
        </div>
      )}
    </section>
  );
}

/** The way to one more component: a target gives it its first name. */
function Adding({ label, onAdd }: { label: string; onAdd: (component: ComponentDraft) => void }) {
  const { store } = useLive();
  return (
    <div className="adding">
      <TargetPicker
        label={label}
        value={null}
        onChange={(id) => id !== null && onAdd(newComponent(store.get(id)?.name ?? "", [id]))}
      />
      <button type="button" className="btn" onClick={() => onAdd(newComponent("", []))}>
        <Hand size={15} aria-hidden /> {t("Without a target")}
      </button>
    </div>
  );
}
