import { useCallback, useEffect, useRef, useState } from "react";
import { type Check, type CheckInput, hasEnded } from "../api/checks";
import { api } from "../api/endpoints";
import { useLive } from "../app/live";
import type { Row } from "./assertions";
import { followCheck } from "./follow";

/** A test of the form: what was asked, and how it is. */
export interface FormTest {
  body: CheckInput;
  /** The form's assertions as they were. */
  rows: readonly Row[];
  /** Null until the server has taken it on. */
  check: Check | null;
  /** Why its outcome is not known now; it is asked for again. */
  trouble: unknown;
}

export const isRunning = (test: FormTest | null): boolean =>
  test !== null && (test.check === null || !hasEnded(test.check));

/** The last test of the form, and how to begin another; that throws what the server says against it. */
export function useFormTest(): [FormTest | null, (body: CheckInput, rows: readonly Row[]) => Promise<void>] {
  const live = useLive();
  const [test, setTest] = useState<FormTest | null>(null);
  const stop = useRef(() => {});
  useEffect(() => () => stop.current(), []);
  const begin = useCallback(
    async (body: CheckInput, rows: readonly Row[]) => {
      stop.current();
      let over = false;
      stop.current = () => {
        over = true;
      };
      setTest({ body, rows, check: null, trouble: null });
      try {
        const check = await api.check(body);
        if (over) return;
        setTest({ body, rows, check, trouble: null });
        stop.current = followCheck(
          check.id,
          { get: api.getCheck, follow: live.follow },
          (now) => setTest({ body, rows, check: now, trouble: null }),
          (trouble) => setTest((old) => old && { ...old, trouble }),
        );
      } catch (error) {
        if (over) return;
        setTest(null);
        throw error;
      }
    },
    [live],
  );
  return [test, begin];
}
