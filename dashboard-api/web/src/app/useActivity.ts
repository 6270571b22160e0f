import { useCallback } from "react";
import { api } from "../api/endpoints";
import { useLive } from "./live";
import { useToast } from "./toasts";

/** Pauses or resumes a target. */
export function useActivity(): (target: { id: number; name: string; active: boolean }) => Promise<void> {
  const { store } = useLive();
  const toast = useToast();
  return useCallback(
    async ({ id, name, active }) => {
      try {
        store.applySaved(await api.updateTarget(id, { active: !active }));
        toast({ text: active ? `${name} paused. No checks run until you resume it.` : `${name} resumed.` });
      } catch (error) {
        toast({ bad: true, text: `${name} was not ${active ? "paused" : "resumed"}: ${(error as Error).message}` });
      }
    },
    [store, toast],
  );
}
