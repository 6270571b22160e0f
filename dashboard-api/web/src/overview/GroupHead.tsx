import { useList, useLive } from "../app/live";
import { StateIcon } from "../ui/StateIcon";
import { states, stateWords } from "../ui/words";
import { t } from "../words/t";
import type { Group } from "./groups";

/** A tag, how many have it, and the worst that any of them is. */
export function GroupHead({ group }: { group: Group }) {
  const { store } = useLive();
  useList(); // renders again when any of them changes
  const there = new Set(group.ids.map((id) => store.get(id)?.state));
  const worst = states.find((state) => there.has(state)) ?? "no_data";
  return (
    <h2>
      <StateIcon state={worst} size={16} />
      <span>{group.tag === null ? t("Without tags") : <bdi className="tag">{group.tag}</bdi>}</span>
      <span className="muted">
        {t("{n, plural, one {# target} other {# targets}}", { n: group.ids.length })} ·{" "}
        <span className={`word s-${worst}`}>{stateWords[worst]}</span>
      </span>
    </h2>
  );
}
