import { t } from "../words/t";
import { ACTION_KEY } from "./toasts";

/** Every key there is, for the list of them; those that change something do nothing for who may only look. */
export const shortcuts: [keys: string[], what: string, writes?: "writes"][] = [
  [[t("Ctrl"), "K"], t("Find a target, a page or an action")],
  [["/"], t("Search this list")],
  [["c"], t("Add what the page lists"), "writes"],
  [["j"], t("Next line")],
  [["k"], t("Previous line")],
  [["x"], t("Select the line; with Shift, all up to it"), "writes"],
  [[t("Enter")], t("Open the line")],
  [["t"], t("Test the target now"), "writes"],
  [["e"], t("Edit the open target"), "writes"],
  [[ACTION_KEY], t("Undo, while a message at the corner offers it")],
  [["g", "o"], t("Go to the overview")],
  [["g", "i"], t("Go to the incidents")],
  [["g", "m"], t("Go to maintenance")],
  [["g", "p"], t("Go to the status pages")],
  [["g", "r"], t("Go to the reports")],
  [["g", "f"], t("Go to the fleet")],
  [["g", "s"], t("Go to the settings")],
  [[t("Ctrl"), "S"], t("Save the open status page"), "writes"],
  [[t("Esc")], t("Close, leave the search, or select nothing")],
  [["?"], t("This list")],
];
