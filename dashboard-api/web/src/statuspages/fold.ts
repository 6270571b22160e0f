// How the states of targets become that of a component, and those of components that of the
// page: as the public page does it.

import type { PageState, Rule } from "../api/statusPages";
import type { State } from "../api/types";

/** The worst first: what is not known is worse than what is planned. */
export const pageStates: readonly PageState[] = ["down", "degraded", "no_data", "maintenance", "up"];

export const worst = (states: readonly PageState[]): PageState | null =>
  pageStates.find((state) => states.includes(state)) ?? null;

/** Nothing is known of what is paused, or gone. */
export const pageStateOf = (state: State | undefined): PageState =>
  state === undefined || state === "paused" ? "no_data" : state;

/** One state of those of targets. Without targets there is no evidence. */
export function combine(rule: Rule, states: readonly PageState[]): PageState {
  if (rule !== "majority" || states.length === 0) return worst(states) ?? "no_data";
  const count = (state: PageState) => states.filter((one) => one === state).length;
  const troubled = count("down") + count("degraded") > 0;
  const most = pageStates.find((state) => 2 * count(state) > states.length);
  if (most && !(most === "up" && troubled)) return most;
  return troubled ? "degraded" : "no_data";
}

/** The targets of a component that is edited: those it names, and those that carry all of its tags. */
export function boundTo(
  component: { targets: readonly number[]; tags: readonly string[] },
  all: readonly { id: number; tags: readonly string[] }[],
): number[] {
  const { targets, tags } = component;
  const carry = tags.length > 0 ? all.filter((one) => tags.every((tag) => one.tags.includes(tag))) : [];
  return [...new Set([...targets, ...carry.map((one) => one.id)])];
}

/** The state of a component by what is known of its targets now. */
export function stateOf(
  component: { rule: Rule; state: PageState | null; targets: readonly number[] },
  known: (id: number) => State | undefined,
): PageState {
  if (component.rule === "manual") return component.state ?? "no_data";
  return combine(
    component.rule,
    component.targets.map((id) => pageStateOf(known(id))),
  );
}
