import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../api/endpoints";
import type { FleetRegion, Prober } from "../api/types";
import { useToast } from "../app/toasts";
import { Confirm } from "../ui/Confirm";
import { Rich } from "../words/Rich";
import { t } from "../words/t";
import { isLast } from "./proberWords";

/** Has a prober take nothing on, after asking, or go on again; also one that is away: it would begin so. */
export function DrainProber({ region, prober }: { region: FleetRegion; prober: Prober }) {
  const session = useQuery({ queryKey: ["session"], queryFn: ({ signal }) => api.session(signal) });
  const [asking, setAsking] = useState(false);
  if (session.data?.role !== "owner") return null;
  if (prober.drain_asked_at) return <Resume region={region.region} name={prober.name} />;
  return (
    <>
      <button type="button" className="chip" onClick={() => setAsking(true)}>
        <Rich text="Drain<sr> {name}</sr>" sr={(inner) => <span className="sr">{inner}</span>} name={prober.name} />
      </button>
      {asking && <Drain region={region} prober={prober} onClose={() => setAsking(false)} />}
    </>
  );
}

function Drain({ region, prober, onClose }: { region: FleetRegion; prober: Prober; onClose: () => void }) {
  const queries = useQueryClient();
  const toast = useToast();
  const { name } = prober;
  const drain = async () => {
    try {
      await api.drainProber(region.region, name);
      toast({ text: t("{name} finishes what it holds, and takes nothing on.", { name }) });
    } catch (error) {
      toast({ bad: true, text: t("{name} was not drained: {why}", { name, why: (error as Error).message }) });
    }
    void queries.invalidateQueries({ queryKey: ["fleet"] });
  };
  return (
    <Confirm
      title={t("Drain {name}?", { name })}
      act={t("Drain {name}", { name })}
      keep={t("Cancel")}
      consequences={[
        isLast(region, prober)
          ? t("It is the only prober of {region} at work: until it is resumed, the checks of that region are missed.", {
              region: region.region,
            })
          : t("The other probers of {region} take its checks.", { region: region.region }),
        t("It stays drained when it is started again, until it is resumed."),
      ]}
      onAct={drain}
      onClose={onClose}
    >
      {t("It finishes and stores what it holds, and takes nothing on. Then it can be stopped without losing anything.")}
    </Confirm>
  );
}

function Resume({ region, name }: { region: string; name: string }) {
  const queries = useQueryClient();
  const toast = useToast();
  const [busy, setBusy] = useState(false);
  const resume = async () => {
    setBusy(true);
    try {
      await api.resumeProber(region, name);
      toast({ text: t("{name} takes checks on again.", { name }) });
    } catch (error) {
      toast({ bad: true, text: t("{name} was not resumed: {why}", { name, why: (error as Error).message }) });
    }
    setBusy(false);
    void queries.invalidateQueries({ queryKey: ["fleet"] });
  };
  return (
    <button type="button" className="chip" disabled={busy} onClick={() => void resume()}>
      <Rich text="Resume<sr> {name}</sr>" sr={(inner) => <span className="sr">{inner}</span>} name={name} />
    </button>
  );
}
