import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Archive } from "lucide-react";
import { useState } from "react";
import { api } from "../api/endpoints";
import type { Prober, RegionPlan } from "../api/types";
import { useToast } from "../app/toasts";
import { Confirm } from "../ui/Confirm";
import { useRegionPlans } from "../ui/retired";
import { Ago } from "../ui/time";
import { listedParts } from "../ui/words";
import { Rich } from "../words/Rich";
import { t } from "../words/t";

const SURELY_GONE_S = 60;

/** What can be done about a region that is silent: only owners may. */
export function RegionActions({ region }: { region: string }) {
  const session = useQuery({ queryKey: ["session"], queryFn: ({ signal }) => api.session(signal) });
  const [asking, setAsking] = useState(false);
  if (session.data?.role !== "owner") return null;
  return (
    <>
      <button type="button" className="btn" onClick={() => setAsking(true)}>
        <Archive size={15} aria-hidden /> {t("Retire")}
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
      toast({ text: t("{region} is retired. Its history stays.", { region }) });
    } catch (error) {
      toast({ bad: true, text: t("{region} was not retired: {why}", { region, why: (error as Error).message }) });
    }
    void queries.invalidateQueries({ queryKey: ["regions"] });
  };
  return (
    <Confirm
      title={t("Retire {region}?", { region })}
      act={t("Retire {region}", { region })}
      onAct={retire}
      onClose={onClose}
    >
      {t(
        "Nothing is planned there from the next second on, so nothing is missed there either. What was measured stays in every log, chart and report. A prober of {region} that is started later brings the region back.",
        { region },
      )}
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
  const { name } = prober;
  const forget = async () => {
    try {
      await api.forgetProber(region, name);
      toast({ text: t("{name} is forgotten. What it measured stays.", { name }) });
    } catch (error) {
      toast({ bad: true, text: t("{name} stays: {why}", { name, why: (error as Error).message }) });
    }
    void queries.invalidateQueries({ queryKey: ["fleet"] });
  };
  return (
    <>
      <button type="button" className="chip" onClick={() => setAsking(true)}>
        <Rich text="Forget<sr> {name}</sr>" sr={(inner) => <span className="sr">{inner}</span>} name={name} />
      </button>
      {asking && (
        <Confirm
          title={t("Forget {name}?", { name })}
          act={t("Forget {name}", { name })}
          onAct={forget}
          onClose={() => setAsking(false)}
        >
          {t("It leaves this page; what it measured stays. If it is started again, it comes back.")}
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
      <h2 id="retired">{t("Retired regions")}</h2>
      <p className="muted">
        <Rich
          text="{regions}. Nothing is planned there any more; what was measured stays in logs, charts and reports."
          regions={<RetiredList regions={retired} />}
        />
      </p>
    </section>
  );
}

function RetiredList({ regions }: { regions: readonly RegionPlan[] }) {
  const since = new Map(regions.map((one) => [one.region, one.since]));
  return listedParts(since.keys()).map(({ type, value }) => {
    if (type === "literal") return value;
    const at = since.get(value);
    return (
      <span key={value}>
        <b>{value}</b> {at && <Ago at={at} />}
      </span>
    );
  });
}
