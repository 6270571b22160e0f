import type { Target, TargetInput } from "../api/types";

/** What belongs to every target, however it is watched. */
export interface Place {
  tags: string[];
  parent: number | null;
}

export const noPlace: Place = { tags: [], parent: null };

export const placeOf = (target: Target): Place => ({ tags: target.tags ?? [], parent: target.parent_id ?? null });

/** For a new target what was filled in, for an edit what changed. */
export function placeBody(place: Place, before: Place): Pick<TargetInput, "tags" | "parent_id"> {
  const body: Pick<TargetInput, "tags" | "parent_id"> = {};
  if (place.tags.join() !== before.tags.join()) body.tags = place.tags;
  if (place.parent !== before.parent) body.parent_id = place.parent;
  return body;
}

/** Those that cannot be what a target depends on: itself, and what depends on it, over all steps. */
export function belowOf(id: number, targets: readonly { id: number; parent_id: number | null }[]): ReadonlySet<number> {
  const below = new Set([id]);
  for (let grown = true; grown; ) {
    grown = false;
    for (const one of targets) {
      if (one.parent_id === null || below.has(one.id) || !below.has(one.parent_id)) continue;
      below.add(one.id);
      grown = true;
    }
  }
  return below;
}
