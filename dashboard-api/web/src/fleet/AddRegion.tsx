import { useQuery } from "@tanstack/react-query";
import { CircleCheck, Hourglass } from "lucide-react";
import { useState } from "react";
import { api } from "../api/endpoints";
import { useSaid } from "../app/useSaid";
import { CopyText } from "../ui/CopyText";
import { Dialog } from "../ui/Dialog";
import { Field } from "../ui/Field";
import { listed } from "../ui/words";
import { Rich } from "../words/Rich";
import { t } from "../words/t";
import { command, firstOf, nameProblem } from "./newRegion";
import "../styles/dialog.css";

const LOOK_MS = 2_000;

/** What to run where a new region is to be, and a look-out for its first prober. */
export default function AddRegion({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState("");
  const problem = name ? nameProblem(name) : null;
  const good = name !== "" && !problem;
  const fleet = useQuery({ queryKey: ["fleet"], queryFn: api.fleet, refetchInterval: LOOK_MS });
  const there = good && fleet.data && !fleet.error ? firstOf(fleet.data, name) : [];
  useSaid(
    !good
      ? ""
      : there.length > 0
        ? t("{region} is there: {probers}. Targets without regions of their own are checked from it within seconds.", {
            region: name,
            probers: listed(there),
          })
        : t("Waiting for the first prober of {region}", { region: name }),
  );
  return (
    <Dialog title={t("Add a region")} onClose={onClose}>
      <div className="dialog-body add-region">
        <Field label={t("Name of the region")} hint={t("1 to 32 of a–z, 0–9 and -.")} error={problem ?? undefined}>
          {(bound) => (
            <input
              {...bound}
              className="input"
              value={name}
              spellCheck={false}
              autoCapitalize="none"
              onChange={(event) => setName(event.target.value.trim())}
            />
          )}
        </Field>
        <p>
          {t(
            "On a machine there, with the program prober of this release, put the passwords of your stores and the SECRET_KEY of the centre in, and run:",
          )}
        </p>
        <CopyText label={t("the command")} text={command(good ? name : "")} />
        <p className="muted">
          {t("Redis and ClickHouse must be reachable from there; nothing has to reach the new machine from outside.")}
        </p>
        <p className="add-region-state">
          {!good ? (
            <span className="muted">{t("Once it has a name, this waits for its first prober.")}</span>
          ) : there.length > 0 ? (
            <>
              <CircleCheck size={17} aria-hidden className="s-up" />
              <span>
                <Rich
                  text="{region} is there: {probers}. Targets without regions of their own are checked from it within seconds."
                  region={<b>{name}</b>}
                  probers={listed(there)}
                />
              </span>
            </>
          ) : (
            <>
              <Hourglass size={17} aria-hidden className="muted" />
              <span>{t("Waiting for the first prober of {region}", { region: name })}</span>
            </>
          )}
        </p>
      </div>
      <div className="dialog-foot">
        <button type="button" className={there.length > 0 ? "btn primary" : "btn"} onClick={onClose}>
          {there.length > 0 ? t("Done") : t("Close")}
        </button>
      </div>
    </Dialog>
  );
}
