import { Dialog } from "../ui/Dialog";
import { t } from "../words/t";
import { shortcuts } from "./shortcuts";

export function HelpDialog({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title={t("Keyboard shortcuts")} onClose={onClose}>
      <dl className="shortcuts">
        {shortcuts.map(([keys, what]) => (
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
