import { useRouterState } from "@tanstack/react-router";
import { lazy, Suspense } from "react";
import { pastOf } from "../known/at";
import { useList } from "./live";

const SilentNotice = lazy(() => import("./SilentNotice"));

/** What is said while regions do not report: their targets are not up, they are unknown. A page of the past says nothing of now. */
export function SilentRegions() {
  const { regions } = useList();
  const past = useRouterState({ select: ({ matches }) => pastOf(matches) !== undefined });
  const silent = regions.filter((region) => !region.live);
  if (silent.length === 0 || past) return null;
  return (
    <Suspense>
      <SilentNotice silent={silent} />
    </Suspense>
  );
}
