import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { type RevisionChange, revisionsOf } from "../api/revisions";
import type { Target } from "../api/types";
import { useLive } from "../app/live";
import { capital } from "../incidents/words";
import { linesOf } from "../target/revisions";
import { useWho } from "../target/useWho";
import { ChangeLine } from "../ui/ChangeLine";
import { Clock } from "../ui/time";
import { t } from "../words/t";
import type { Differences } from "./conflict";

/** Says of a target that was changed elsewhere meanwhile who did it, what, and what saving does to it. */
export default function Conflict({ now, of: { replaced, kept } }: { now: Target; of: Differences }) {
  const box = useRef<HTMLDivElement>(null);
  const who = useWho();
  const { data } = useQuery({
    queryKey: ["last-revision", now.id, now.spec_version],
    queryFn: () => revisionsOf(now.id, null),
  });
  const last = data?.items[0];
  const known = last !== undefined && Date.parse(last.at) >= Date.parse(now.updated_at);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each version that is found is said
  useEffect(() => box.current?.focus(), [now]);
  // Who it was makes it longer, and comes later.
  useEffect(() => {
    if (known && document.activeElement === box.current) box.current?.scrollIntoView({ block: "end" });
  }, [known]);
  return (
    <div ref={box} className="banner bad" role="alert" tabIndex={-1} data-conflict={now.spec_version}>
      <div className="stack conflict">
        <p>
          {t(
            "This target was changed elsewhere after you opened it. Nothing is saved yet: the form has the newest version, with what you changed.",
          )}
        </p>
        {known && (
          <p className="muted">
            {capital(who(last.actor))} · <Clock at={last.at} dated />
          </p>
        )}
        <Lines title={t("Saving puts yours in place of theirs:")} of={replaced} />
        <Lines title={t("Theirs, which stays:")} of={kept} />
        {replaced.length + kept.length === 0 && <p>{t("What was changed is not shown, as a secret is not.")}</p>}
      </div>
    </div>
  );
}

function Lines({ title, of }: { title: string; of: readonly RevisionChange[] }) {
  const { store } = useLive();
  if (of.length === 0) return null;
  const nameOf = (id: unknown) => (typeof id === "number" ? (store.get(id)?.name ?? t("Target {id}", { id })) : null);
  const named = of.map((one) =>
    one.pointer === "/parent_id" ? { pointer: "/parent", from: nameOf(one.from), to: nameOf(one.to) } : one,
  );
  return (
    <div>
      <h3>{title}</h3>
      <ul className="changes-list">
        {linesOf(named).map((row) => (
          <ChangeLine key={row.key} row={row} />
        ))}
      </ul>
    </div>
  );
}
