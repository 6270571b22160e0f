import type { State } from "../api/types";
import type { Counts } from "../live/store";
import { StateIcon } from "../ui/StateIcon";
import { count, states, stateWords } from "../ui/words";
import { t } from "../words/t";

/** How many targets are in each state; each is a filter. */
export function StateStrip({
  counts,
  chosen,
  onChoose,
}: {
  counts: Counts;
  chosen: State | undefined;
  onChoose: (state: State | undefined) => void;
}) {
  // Most have nothing in maintenance most of the time: the others get the room.
  const shown = states.filter((state) => state !== "maintenance" || counts.maintenance > 0 || chosen === state);
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset would add a form's meaning
    <div className="strip" role="group" aria-label={t("Filter by state")}>
      {shown.map((state) => (
        <button
          key={state}
          type="button"
          className={`tile s-${state}`}
          data-zero={counts[state] === 0 || undefined}
          aria-pressed={chosen === state}
          onClick={() => onChoose(chosen === state ? undefined : state)}
        >
          <StateIcon state={state} size={20} />
          <b>{count(counts[state])}</b>
          <span>{stateWords[state]}</span>
        </button>
      ))}
    </div>
  );
}
