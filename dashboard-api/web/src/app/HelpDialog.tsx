import { Dialog } from "../ui/Dialog";
import { t } from "../words/t";
import { shortcuts } from "./shortcuts";
import { useMayEdit } from "./useSelf";

export function HelpDialog({ onClose }: { onClose: () => void }) {
  const mayEdit = useMayEdit();
  return (
    <Dialog title={t("Keyboard shortcuts")} onClose={onClose}>
      <dl className="shortcuts">
        {shortcuts
          .filter(([, , writes]) => mayEdit || !writes)
          .map(([keys, what]) => (
            <div key={what}>
              <dt>
                {keys.map((key) => (
                  <kbd key={key}>{key}</kbd>
                ))}
              </dt>
              <dd>{what}</dd>
            </div>
          ))}
      </dl>
    </Dialog>
  );
}
