import { type ReactNode, useState } from "react";
import { t } from "../words/t";
import { Dialog } from "./Dialog";

/** Asks before something is done that cannot be taken back, and closes when it has been tried. */
export function Confirm({
  title,
  act,
  keep = t("Keep it"),
  consequences,
  onAct,
  onClose,
  children,
}: {
  title: string;
  act: string;
  keep?: string;
  consequences?: readonly string[];
  onAct: () => Promise<void>;
  onClose: () => void;
  children: ReactNode;
}) {
  const [busy, setBusy] = useState(false);
  const go = async () => {
    setBusy(true);
    await onAct();
    onClose();
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <div className="dialog-body">
        <p>{children}</p>
        {consequences && (
          <ul className="consequences">
            {consequences.map((one) => (
              <li key={one}>{one}</li>
            ))}
          </ul>
        )}
      </div>
      <div className="dialog-foot">
        <button type="button" className="btn" onClick={onClose}>
          {keep}
        </button>
        <button type="button" className="btn primary" disabled={busy} onClick={() => void go()}>
          {act}
        </button>
      </div>
    </Dialog>
  );
}
