import { type ReactNode, useEffect, useState } from "react";
import { t } from "../words/t";
import { Dialog, useClosing } from "./Dialog";

/** Within a dialog: neither Escape, its cross nor its Cancel closes that before it was asked whether to. */
export function AskFirst({
  when = true,
  title = t("Discard what you entered?"),
  act = t("Discard"),
  keep = t("Keep editing"),
  children = t("It is not saved, and would be lost."),
}: {
  when?: boolean;
  title?: string;
  act?: string;
  /** The way back, which is what Enter and Escape mean. */
  keep?: string;
  children?: ReactNode;
}) {
  const { guard, close } = useClosing();
  const [asked, setAsked] = useState(false);
  useEffect(() => {
    if (!when) return;
    guard.current = () => setAsked(true);
    return () => {
      guard.current = null;
      setAsked(false);
    };
  }, [when, guard]);
  if (!asked) return null;
  const goOn = () => setAsked(false);
  return (
    <Dialog title={title} onClose={goOn}>
      <div className="dialog-body">
        <p>{children}</p>
      </div>
      <div className="dialog-foot">
        <button type="button" className="btn danger" onClick={close}>
          {act}
        </button>
        <button type="button" className="btn primary" data-begin onClick={goOn}>
          {keep}
        </button>
      </div>
    </Dialog>
  );
}

/** Around what is shown only once: it takes more than a key to be rid of it. */
export const KeptFirst = () => (
  <AskFirst title={t("Have you kept it?")} act={t("Close")} keep={t("Show it again")}>
    {t("It is shown only now: once this is closed, nobody can see it again.")}
  </AskFirst>
);
