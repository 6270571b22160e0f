import { X } from "lucide-react";
import type { Region } from "../api/types";
import { t } from "../words/t";

/** Narrows the list to what is checked from a region; not there while all is checked from one. */
export function RegionFilter({
  regions,
  chosen,
  onChoose,
}: {
  regions: readonly Region[];
  chosen: string | undefined;
  onChoose: (region: string | undefined) => void;
}) {
  if (chosen)
    return (
      <button type="button" className="chip" onClick={() => onChoose(undefined)}>
        <bdi>{chosen}</bdi> <X size={14} aria-label={t("Clear the region {region}", { region: chosen })} />
      </button>
    );
  if (regions.length < 2) return null;
  return (
    <label className="sort">
      <span className="sr">{t("Filter by region")}</span>
      <select className="input" value="" onChange={(event) => onChoose(event.target.value)}>
        <option value="">{t("Region")}</option>
        {regions.map(({ region }) => (
          <option key={region} value={region}>
            {region}
          </option>
        ))}
      </select>
    </label>
  );
}
