import { Dialog } from "../ui/Dialog";

const shortcuts: [string[], string][] = [
  [["/"], "Search"],
  [["c"], "Add a target"],
  [["j"], "Next target"],
  [["k"], "Previous target"],
  [["Enter"], "Open the target"],
  [["e"], "Edit the open target"],
  [["g", "o"], "Go to the overview"],
  [["g", "r"], "Go to the reports"],
  [["g", "f"], "Go to the fleet"],
  [["Esc"], "Close, or leave the search"],
  [["?"], "This list"],
];

export function HelpDialog({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
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
