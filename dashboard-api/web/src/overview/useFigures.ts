import { useEffect, useState, useSyncExternalStore } from "react";
import { api } from "../api/endpoints";
import type { TargetFigures } from "../api/figures";
import { FigureKeeper } from "./figures";

/**
 * The figures of the rows on the screen, as they come, and from when on checks may be missing in them. Nothing is asked
 * for while they are not `wanted`.
 */
export function useFigures(
  ids: readonly number[],
  wanted: boolean,
): { of: (id: number) => TargetFigures | undefined; settledUntil: string | null } {
  const [keeper] = useState(() => new FigureKeeper(api.figures));
  useSyncExternalStore(keeper.subscribe, keeper.version);
  const key = wanted ? ids.join() : "";
  // biome-ignore lint/correctness/useExhaustiveDependencies: `key` stands for `ids`
  useEffect(() => keeper.show(wanted ? ids : []), [keeper, key]);
  useEffect(() => () => keeper.show([]), [keeper]);
  return { of: keeper.get, settledUntil: wanted ? keeper.settledUntil() : null };
}
