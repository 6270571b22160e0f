import type { Incident } from "../api/incidents";
import type { StatusPage } from "../api/statusPages";
import { behind, componentsOf } from "../statuspages/draft";

/** The targets of an incident: its own, or those of the incidents that have its cause. */
export function affectedBy(
  incident: Pick<Incident, "target_id">,
  group: readonly Pick<Incident, "target_id">[],
): number[] {
  const all = incident.target_id > 0 ? [incident] : group;
  return [...new Set(all.map((one) => one.target_id).filter((id) => id > 0))];
}

/** Pages whose readers see one of the targets, and the others. */
export function readersOf(pages: readonly StatusPage[], targets: readonly number[]) {
  const shows = (page: StatusPage) => componentsOf(page).some((one) => behind(one).some((id) => targets.includes(id)));
  return { showing: pages.filter(shows), others: pages.filter((page) => !shows(page)) };
}
