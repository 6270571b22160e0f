import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Archive } from "lucide-react";
import { useState } from "react";
import { api } from "../api/endpoints";
import type { Prober } from "../api/types";
import { useToast } from "../app/toasts";
import { Confirm } from "../ui/Confirm";
import { useRegionPlans } from "../ui/retired";
import { Ago } from "../ui/time";

const SURELY_GONE_S = 60;

/** What can be done about a region that is silent: only owners may. */
export function RegionActions({ region }: { region: string }) {
  const session = useQuery({ queryKey: ["session"], queryFn: ({ signal }) => api.session(signal) });
  const [asking, setAsking] = useState(false);
  if (session.data?.role !== "owner") return null;
  return (
    <>
      <button type="button" className="btn" onClick={() => setAsking(true)}>
        <Archive size={15} aria-hidden /> Retire
      </button>
      {asking && <Retire region={region} onClose={() => setAsking(false)} />}
    </>
  );
}

function Retire({ region, onClose }: { region: string; onClose: () => void }) {
  const queries = useQueryClient();
  const toast = useToast();
  const retire = async () => {
    try {
      await api.retireRegion(region);
      toast({ text: `${region} is retired. Its history stays.` });
    } catch (error) {
      toast({ bad: true, text: `${region} was not retired: ${(error as Error).message}` });
    }
    void queries.invalidateQueries({ queryKey: ["regions"] });
  };
  return (
    <Confirm title={`Retire ${region}?`} act={`Retire ${region}`} onAct={retire} onClose={onClose}>
      Nothing is planned there from the next second on, so nothing is missed there either. What was measured stays in
      every log, chart and report. A prober of {region} that is started later brings the region back.
    </Confirm>
  );
}

/** Takes a prober that has ended off the page; its results stay. Not while rows lie on its disk. */
export function ForgetProber({ region, prober }: { region: string; prober: Prober }) {
  const queries = useQueryClient();
  const toast = useToast();
  const session = useQuery({ queryKey: ["session"], queryFn: ({ signal }) => api.session(signal) });
  const [asking, setAsking] = useState(false);
  if (session.data?.role !== "owner" || prober.age_s < SURELY_GONE_S || prober.spooled > 0) return null;
  const forget = async () => {
    try {
      await api.forgetProber(region, prober.name);
      toast({ text: `${prober.name} is forgotten. What it measured stays.` });
    } catch (error) {
      toast({ bad: true, text: `${prober.name} stays: ${(error as Error).message}` });
    }
    void queries.invalidateQueries({ queryKey: ["fleet"] });
  };
  return (
    <>
      <button type="button" className="chip" onClick={() => setAsking(true)}>
        Forget<span className="sr"> {prober.name}</span>
      </button>
      {asking && (
        <Confirm
          title={`Forget ${prober.name}?`}
          act={`Forget ${prober.name}`}
          onAct={forget}
          onClose={() => setAsking(false)}
        >
          It leaves this page; what it measured stays. If it is started again, it comes back.
        </Confirm>
      )}
    </>
  );
}

/** The regions of which there is only history. */
export function Retired() {
  const retired = useRegionPlans().data?.items.filter((one) => one.state === "retired") ?? [];
  if (retired.length === 0) return null;
  return (
    <section className="card pad" aria-labelledby="retired">
      <h2 id="retired">Retired regions</h2>
      <p className="muted">
        {retired.map((one, i) => (
          <span key={one.region}>
            {i > 0 && ", "}
            <b>{one.region}</b> {one.since && <Ago at={one.since} />}
          </span>
        ))}
        . Nothing is planned there any more; what was measured stays in logs, charts and reports.
      </p>
    </section>
  );
}
