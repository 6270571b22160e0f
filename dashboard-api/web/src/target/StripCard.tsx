import { useState } from "react";
import { useZone } from "../app/preferences";
import type { TargetView } from "../live/store";
import { Ticks } from "../ui/Ticks";
import { Ago } from "../ui/time";
import { Rich } from "../words/Rich";
import { t } from "../words/t";
import { NumberTable, TableButtons } from "./FigureCard";
import { numbersOf } from "./ticks";

/** The newest checks as a bar; and as a table, for those who do not see it or point at it. */
export function StripCard({ target }: { target: TargetView }) {
  const [asTable, setAsTable] = useState(false);
  const [zone] = useZone();
  const beats = target.kind === "heartbeat";
  const title = t(beats ? "Last 90 pings" : "Last 90 checks");
  const filled = target.slots.length > 0;
  const numbers = () => numbersOf(target, zone);
  return (
    <section className="card strip-card" aria-label={title}>
      {asTable && filled ? (
        <NumberTable title={title} numbers={numbers()} />
      ) : (
        <>
          <Ticks slots={target.slots} maintained={target.maintained} height={40} />
          <div className="row spread muted" dir="ltr">
            <span dir="auto">
              {target.slots[0] ? <Ago at={target.slots[0].at} /> : t(beats ? "No pings yet" : "No checks yet")}
            </span>
            <span dir="auto">
              {target.last_result_at ? (
                <Rich text="last result {ago}" ago={<Ago at={target.last_result_at} />} />
              ) : (
                t(beats ? "waiting for the first ping" : "waiting for the first result")
              )}
            </span>
          </div>
        </>
      )}
      <div className="row wrap push">
        <TableButtons
          title={title}
          file={`target-${target.id}-checks.csv`}
          asTable={asTable}
          onTable={setAsTable}
          numbers={filled ? numbers : null}
        />
      </div>
    </section>
  );
}
