import { useCallback } from "react";
import { api } from "../api/endpoints";
import { t } from "../words/t";
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
        toast({ text: t(active ? "{name} paused. No checks run until you resume it." : "{name} resumed.", { name }) });
      } catch (error) {
        const why = (error as Error).message;
        toast({
          bad: true,
          text: t(active ? "{name} was not paused: {why}" : "{name} was not resumed: {why}", { name, why }),
        });
      }
    },
    [store, toast],
  );
}
