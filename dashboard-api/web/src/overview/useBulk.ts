import { useCallback, useRef, useState } from "react";
import { ApiError } from "../api/client";
import { api } from "../api/endpoints";
import type { BatchSet, Before } from "../api/types";
import { useLive } from "../app/live";
import type { Previewed } from "../app/tested";
import { useToast } from "../app/toasts";
import { testTarget } from "../app/useTest";
import type { TargetView } from "../live/store";
import { briefly } from "../ui/problems";
import { t } from "../words/t";
import { inParts, inTurn } from "./selection";

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

/** So many are changed by one request: there is progress to see, and others can write meanwhile. */
const PART = 1_000;

/** What is done to many targets: a few or a part at a time, with progress, an end to it, and a way back where there is one. */
export function useBulk() {
  const { store } = useLive();
  const toast = useToast();
  const [progress, setProgress] = useState<Progress | null>(null);
  const stopped = useRef(false);
  const stop = useCallback(() => {
    stopped.current = true;
  }, []);

  /** Says how something went that was done to many. */
  const tell = useCallback(
    (said: Omit<Act, "what">, { done, failed }: Awaited<ReturnType<typeof inTurn<TargetView>>>, undo?: () => void) => {
      setProgress(null);
      if (failed.length > 0) {
        const first = failed[0];
        toast({
          bad: true,
          text: `${said.failed(failed.length)} ${t("{name}: {why}", { name: first?.item.name, why: briefly(first?.error) })}`,
        });
      }
      if (done.length === 0) return;
      toast({ text: said.done(done.length), ...(undo && { action: { label: t("Undo"), run: undo } }) });
    },
    [toast],
  );
  const begin = useCallback((what: string, of: number) => {
    stopped.current = false;
    const show = (done: number, failed: number) => setProgress({ what, done, failed, of });
    show(0, 0);
    return show;
  }, []);

  const run = useCallback(
    async ({ what, ...said }: Act, targets: readonly TargetView[], act: (target: TargetView) => Promise<void>) => {
      if (targets.length === 0) return toast({ text: t("Nothing to change.") });
      tell(said, await inTurn(targets, act, begin(what, targets.length), () => stopped.current));
    },
    [toast, begin, tell],
  );

  /**
   * The same change of all of a part: shown as it is asked for, and taken back of those that the server does not change.
   * What they were before is kept for the way back.
   */
  const setAll = useCallback(
    async (
      { what, ...said }: Act,
      parts: readonly { targets: readonly TargetView[]; set: BatchSet }[],
      back = true,
    ) => {
      const of = parts.reduce((n, { targets }) => n + targets.length, 0);
      if (of === 0) return toast({ text: t("Nothing to change.") });
      const show = begin(what, of);
      const before: Before[] = [];
      const previewed: Previewed[] = [];
      const same = new Set<number>();
      const went: Awaited<ReturnType<typeof inTurn<TargetView>>> = { done: [], failed: [] };
      await new Promise((ready) => setTimeout(ready)); // that it has begun is shown before anything is done
      for (const { targets, set } of parts) {
        const { active, interval_s, timeout_ms } = set; // the rest is the server's to say
        const assumed = {
          ...(active !== undefined && { active }),
          ...(interval_s !== undefined && { interval_s }),
          ...(timeout_ms !== undefined && { timeout_ms }),
        };
        const act = async (part: readonly TargetView[]) => {
          const ids = part.map(({ id }) => id);
          store.assume(ids, assumed);
          try {
            const answer = await api.changeTargets(ids, set);
            const why = new Map(answer.refused.map(({ id, problem }) => [id, new ApiError(problem)]));
            store.settle([...why.keys()], false);
            store.settle(ids, true);
            before.unshift(...(answer.before ?? []));
            for (const id of answer.unchanged) same.add(id);
            for (const { id, preview_check_id: check } of answer.changed) {
              if (check) previewed.push({ name: store.get(id)?.name ?? String(id), check });
            }
            return why;
          } catch (error) {
            store.settle(ids, false);
            throw error;
          }
        };
        const { done, failed } = went;
        const some = await inParts(
          targets,
          act,
          (n, not) => show(done.length + n, failed.length + not),
          () => stopped.current,
          PART,
        );
        done.push(...some.done);
        failed.push(...some.failed);
      }
      const putBack = () => {
        const there = (id: number) => store.get(id) ?? [];
        void setAll(
          acts.undo,
          before.map(({ ids, set }) => ({ targets: ids.flatMap(there), set })),
          false,
        );
      };
      const changed = went.done.filter(({ id }) => !same.has(id));
      if (same.size === of) toast({ text: t("Nothing to change.") });
      tell(said, { ...went, done: changed }, back && before.length > 0 ? putBack : undefined);
      if (previewed.length > 0) void import("../app/tested").then((tested) => tested.tellPreviews(previewed, toast));
    },
    [store, toast, begin, tell],
  );
  const activity = useCallback(
    (targets: readonly TargetView[], active: boolean) =>
      setAll(active ? acts.resume : acts.pause, [
        { targets: targets.filter((target) => target.active !== active), set: { active } },
      ]),
    [setAll],
  );
  const test = useCallback(
    (targets: readonly TargetView[]) => run(acts.test, targets, async (target) => void (await testTarget(target.id))),
    [run],
  );
  const edit = useCallback(
    (targets: readonly TargetView[], set: BatchSet) => setAll(acts.edit, [{ targets, set }]),
    [setAll],
  );
  /** Nothing is deleted before the message with its way back is gone; all at once, as the page may be on its way out. */
  const remove = useCallback(
    (targets: readonly TargetView[]) => {
      store.hideAll(targets.map((target) => target.id));
      const act = async (target: TargetView) => {
        try {
          await api.deleteTarget(target.id, true);
          return [];
        } catch (error) {
          toast({ bad: true, text: t("{name} was not deleted: {why}", { name: target.name, why: briefly(error) }) });
          return [target.id];
        }
      };
      const removeAll = async () => store.unhideAll((await Promise.all(targets.map(act))).flat());
      toast({
        text: acts.remove.done(targets.length),
        action: { label: t("Undo"), run: () => store.unhideAll(targets.map((target) => target.id)) },
        onExpire: removeAll,
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
