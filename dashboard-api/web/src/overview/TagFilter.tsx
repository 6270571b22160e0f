import { X } from "lucide-react";
import { count } from "../ui/words";
import { t } from "../words/t";

/** The tags that an address asks for. */
export const tagsOf = (text: string | undefined): string[] => (text ? text.split(",").filter(Boolean) : []);

/** Narrows the list to what has these tags; not there while there are none. */
export function TagFilter({
  known,
  chosen,
  onChange,
}: {
  known: ReadonlyMap<string, number>;
  chosen: readonly string[];
  onChange: (tags: string[]) => void;
}) {
  if (known.size === 0 && chosen.length === 0) return null;
  const left = [...known.keys()].filter((tag) => !chosen.includes(tag)).sort();
  return (
    <>
      {chosen.map((tag) => (
        <button key={tag} type="button" className="chip" onClick={() => onChange(chosen.filter((one) => one !== tag))}>
          {tag} <X size={14} aria-label={t("Clear the tag {tag}", { tag })} />
        </button>
      ))}
      {left.length > 0 && (
        <label className="sort">
          <span className="sr">{t("Filter by tag")}</span>
          <select className="input" value="" onChange={(event) => onChange([...chosen, event.target.value])}>
            <option value="">{chosen.length > 0 ? t("And tag") : t("Tag")}</option>
            {left.map((tag) => (
              <option key={tag} value={tag}>
                {tag} ({count(known.get(tag) ?? 0)})
              </option>
            ))}
          </select>
        </label>
      )}
    </>
  );
}
