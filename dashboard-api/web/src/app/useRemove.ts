import { useCallback } from "react";
import { ApiError } from "../api/client";
import { api } from "../api/endpoints";
import { t } from "../words/t";
import { useLive } from "./live";
import { useToast } from "./toasts";

/**
 * Deletes with a way back: the target leaves the page at once, and the server is
 * told when the toast is gone (or the page is left). Undo is therefore complete:
 * id, history and schedule were never touched.
 */
export function useRemove(): (target: { id: number; name: string }) => void {
  const { store } = useLive();
  const toast = useToast();
  return useCallback(
    ({ id, name }) => {
      store.hide(id);
      const commit = async () => {
        try {
          await api.deleteTarget(id, true);
          store.applyOps([{ op: "remove", id }]);
        } catch (error) {
          if (error instanceof ApiError && error.status === 404) return;
          store.unhide(id);
          toast({ bad: true, text: t("{name} was not deleted: {why}", { name, why: (error as Error).message }) });
        }
      };
      toast({
        text: t("{name} deleted.", { name }),
        action: { label: t("Undo"), run: () => store.unhide(id) },
        onExpire: commit,
      });
    },
    [store, toast],
  );
}
