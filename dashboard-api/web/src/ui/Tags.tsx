import { t } from "../words/t";
import { listed } from "./words";

const SHOWN = 3;

/** The tags of a target, the first few in a row. */
export function Tags({ of: tags, most = SHOWN }: { of: readonly string[]; most?: number }) {
  if (tags.length === 0) return null;
  const more = tags.length - most;
  return (
    <span className="tags" title={more > 0 ? listed(tags) : undefined}>
      <span className="sr">{t("Tags:")} </span>
      {tags.slice(0, most).map((tag) => (
        <span key={tag} className="tag">
          {tag}
        </span>
      ))}
      {more > 0 && <span className="muted"> +{more}</span>}
    </span>
  );
}
