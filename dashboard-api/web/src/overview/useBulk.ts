import { useCallback, useRef, useState } from "react";
import { api } from "../api/endpoints";
import type { TargetInput } from "../api/types";
import { useLive } from "../app/live";
import { useToast } from "../app/toasts";
import { testTarget } from "../app/useTest";
import type { TargetView } from "../live/store";
import { briefly } from "../ui/problems";
import { t } from "../words/t";
import { changes, type Edit, inTurn, patchOf } from "./selection";

/** What is said of doing something to many: meanwhile, of those it was done to, and of the others. */
const acts = {
  pause: {
    what: t("Pausing"),
    done: (n: number) => t("{n, plural, one {# target paused.} other {# targets paused.}}", { n }),
    failed: (n: number) => t("{n, plural, one {# target not paused.} other {# targets not paused.}}", { n }),
  },
  resume: {
    what: t("Resuming"),
    done: (n: number) => t("{n, plural, one {# target resumed.} other {# targets resumed.}}", { n }),
    failed: (n: number) => t("{n, plural, one {# target not resumed.} other {# targets not resumed.}}", { n }),
  },
  test: {
    what: t("Testing"),
    done: (n: number) => t("{n, plural, one {# target asked for a test.} other {# targets asked for a test.}}", { n }),
    failed: (n: number) =>
      t("{n, plural, one {# target not asked for a test.} other {# targets not asked for a test.}}", { n }),
  },
  edit: {
    what: t("Saving"),
    done: (n: number) => t("{n, plural, one {# target changed.} other {# targets changed.}}", { n }),
    failed: (n: number) => t("{n, plural, one {# target not changed.} other {# targets not changed.}}", { n }),
  },
  remove: {
    what: t("Deleting"),
    done: (n: number) => t("{n, plural, one {# target deleted.} other {# targets deleted.}}", { n }),
    failed: (n: number) => t("{n, plural, one {# target not deleted.} other {# targets not deleted.}}", { n }),
  },
  undo: {
    what: t("Undoing"),
    done: (n: number) => t("{n, plural, one {# target put back.} other {# targets put back.}}", { n }),
    failed: (n: number) => t("{n, plural, one {# target not put back.} other {# targets not put back.}}", { n }),
  },
};
type Act = (typeof acts)[keyof typeof acts];

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
      { what, ...said }: Act,
      targets: readonly TargetView[],
      act: (target: TargetView) => Promise<void>,
      undo?: (target: TargetView) => Promise<void>,
    ) => {
      if (targets.length === 0) return toast({ text: t("Nothing to change.") });
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
          text: `${said.failed(failed.length)} ${t("{name}: {why}", { name: first?.item.name, why: briefly(first?.error) })}`,
        });
      }
      if (done.length === 0) return;
      toast({
        text: said.done(done.length),
        ...(undo && {
          action: { label: t("Undo"), run: () => void run(acts.undo, done, undo) },
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
        active ? acts.resume : acts.pause,
        targets.filter((target) => target.active !== active),
        (target) => setActive(target, active),
        (target) => setActive(target, !active),
      ),
    [run, setActive],
  );
  const test = useCallback(
    (targets: readonly TargetView[]) => run(acts.test, targets, async (target) => void (await testTarget(target.id))),
    [run],
  );
  const edit = useCallback(
    (targets: readonly TargetView[], wanted: Edit) =>
      run(
        acts.edit,
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
          toast({ bad: true, text: t("{name} was not deleted: {why}", { name: target.name, why: briefly(error) }) });
        }
      };
      toast({
        text: acts.remove.done(targets.length),
        action: { label: t("Undo"), run: () => store.unhideAll(targets.map((target) => target.id)) },
        onExpire: () => void Promise.all(targets.map(act)),
      });
    },
    [store, toast],
  );
  /** More than a page on its way out could still ask for: with progress, and no way back. */
  const removeNow = useCallback(
    (targets: readonly TargetView[]) =>
      run(acts.remove, targets, async (target) => {
        await api.deleteTarget(target.id);
        store.applyOps([{ op: "remove", id: target.id }]);
      }),
    [run, store],
  );
  return { progress, stop, activity, test, edit, remove, removeNow };
}
