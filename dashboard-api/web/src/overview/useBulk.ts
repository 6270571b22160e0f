import { useCallback, useRef, useState } from "react";
import { api } from "../api/endpoints";
import type { TargetInput } from "../api/types";
import { useLive } from "../app/live";
import { useToast } from "../app/toasts";
import { testTarget } from "../app/useTest";
import type { TargetView } from "../live/store";
import { briefly } from "../ui/problems";
import { plural } from "../ui/words";
import { changes, type Edit, inTurn, patchOf } from "./selection";

export interface Progress {
  what: string;
  done: number;
  failed: number;
  of: number;
}

/** So many can be deleted with a way back. */
export const MOST_UNDONE = 100;

/** An account may ask for so many checks a minute. */
export const MOST_TESTS = 30;

/** What is done to many targets: a few at a time, with progress, an end to it, and a way back where there is one. */
export function useBulk() {
  const { store } = useLive();
  const toast = useToast();
  const [progress, setProgress] = useState<Progress | null>(null);
  const stopped = useRef(false);
  const stop = useCallback(() => {
    stopped.current = true;
  }, []);

  const run = useCallback(
    async (
      what: string,
      past: string,
      targets: readonly TargetView[],
      act: (target: TargetView) => Promise<void>,
      undo?: (target: TargetView) => Promise<void>,
    ) => {
      if (targets.length === 0) return toast({ text: "Nothing to change." });
      stopped.current = false;
      setProgress({ what, done: 0, failed: 0, of: targets.length });
      const { done, failed } = await inTurn(
        targets,
        act,
        (ready, bad) => setProgress({ what, done: ready, failed: bad, of: targets.length }),
        () => stopped.current,
      );
      setProgress(null);
      if (failed.length > 0) {
        const first = failed[0];
        toast({
          bad: true,
          text: `${plural(failed.length, "target")} not ${past}. ${first?.item.name}: ${briefly(first?.error)}`,
        });
      }
      if (done.length === 0) return;
      toast({
        text: `${plural(done.length, "target")} ${past}.`,
        ...(undo && {
          action: { label: "Undo", run: () => void run("Undoing", "put back", done, undo) },
        }),
      });
    },
    [toast],
  );

  const setActive = useCallback(
    async (target: TargetView, active: boolean) => store.applySaved(await api.updateTarget(target.id, { active })),
    [store],
  );
  const activity = useCallback(
    (targets: readonly TargetView[], active: boolean) =>
      run(
        active ? "Resuming" : "Pausing",
        active ? "resumed" : "paused",
        targets.filter((target) => target.active !== active),
        (target) => setActive(target, active),
        (target) => setActive(target, !active),
      ),
    [run, setActive],
  );
  const test = useCallback(
    (targets: readonly TargetView[]) =>
      run("Testing", "asked for a test", targets, async (target) => void (await testTarget(target.id))),
    [run],
  );
  const edit = useCallback(
    (targets: readonly TargetView[], wanted: Edit) =>
      run(
        "Saving",
        "changed",
        targets.filter((target) => changes(target, wanted)),
        async (target) => store.applySaved(await api.updateTarget(target.id, patchOf(target, wanted))),
        async ({ id, interval_s, timeout_ms, regions, tags }) => {
          const before: TargetInput = {};
          if (wanted.interval_s !== undefined) before.interval_s = interval_s;
          if (wanted.timeout_ms !== undefined) before.timeout_ms = timeout_ms;
          if (wanted.regions !== undefined) before.regions = regions;
          if (wanted.add_tags || wanted.remove_tags) before.tags = tags;
          store.applySaved(await api.updateTarget(id, before));
        },
      ),
    [run, store],
  );
  /** Nothing is deleted before the message with its way back is gone; all at once, as the page may be on its way out. */
  const remove = useCallback(
    (targets: readonly TargetView[]) => {
      store.hideAll(targets.map((target) => target.id));
      const act = async (target: TargetView) => {
        try {
          await api.deleteTarget(target.id, true);
        } catch (error) {
          store.unhide(target.id);
          toast({ bad: true, text: `${target.name} was not deleted: ${briefly(error)}` });
        }
      };
      toast({
        text: `${plural(targets.length, "target")} deleted.`,
        action: { label: "Undo", run: () => store.unhideAll(targets.map((target) => target.id)) },
        onExpire: () => void Promise.all(targets.map(act)),
      });
    },
    [store, toast],
  );
  /** More than a page on its way out could still ask for: with progress, and no way back. */
  const removeNow = useCallback(
    (targets: readonly TargetView[]) =>
      run("Deleting", "deleted", targets, async (target) => {
        await api.deleteTarget(target.id);
        store.applyOps([{ op: "remove", id: target.id }]);
      }),
    [run, store],
  );
  return { progress, stop, activity, test, edit, remove, removeNow };
}
