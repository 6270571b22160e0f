import { useBlocker } from "@tanstack/react-router";
import { t } from "../words/t";
import { Confirm } from "./Confirm";

/** Asks before what was written and not saved is left behind, within the dashboard and when the tab is closed. */
export function Unsaved({ when, what }: { when: boolean; what: string }) {
  const blocker = useBlocker({
    shouldBlockFn: ({ current, next }) => when && current.pathname !== next.pathname,
    enableBeforeUnload: () => when,
    withResolver: true,
  });
  if (blocker.status !== "blocked") return null;
  return (
    <Confirm
      title={t("Leave without saving?")}
      act={t("Leave")}
      keep={t("Stay here")}
      onAct={async () => blocker.proceed()}
      onClose={blocker.reset}
    >
      {what}
    </Confirm>
  );
}
