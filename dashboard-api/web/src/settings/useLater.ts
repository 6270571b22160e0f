import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useSyncExternalStore } from "react";
import { useToast } from "../app/toasts";
import { briefly } from "../ui/problems";
import { t } from "../words/t";

// What is deleted while its toast can still take that back; outlives the page it was deleted on.
const hidden = new Map<string, ReadonlySet<number>>();
const listeners = new Set<() => void>();
const none: ReadonlySet<number> = new Set();

function put(list: string, id: number, hide: boolean): void {
  const next = new Set(hidden.get(list));
  if (hide) next.add(id);
  else next.delete(id);
  hidden.set(list, next);
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export const useHidden = (list: string): ReadonlySet<number> =>
  useSyncExternalStore(subscribe, () => hidden.get(list) ?? none);

/** Deletes when the toast is gone or the page is left; until then it can be taken back whole. */
export function useDeleteLater(
  list: string,
  act: (id: number, keepalive: boolean) => Promise<void>,
): (one: { id: number; name: string }) => void {
  const toast = useToast();
  const queries = useQueryClient();
  return useCallback(
    ({ id, name }) => {
      put(list, id, true);
      const commit = async () => {
        try {
          await act(id, true);
        } catch (error) {
          toast({ bad: true, text: t("{name} was not deleted: {why}", { name, why: briefly(error) }) });
        }
        await queries.invalidateQueries({ queryKey: [list] });
        put(list, id, false);
      };
      toast({
        text: t("{name} deleted.", { name }),
        action: { label: t("Undo"), run: () => put(list, id, false) },
        onExpire: commit,
      });
    },
    [list, act, toast, queries],
  );
}
