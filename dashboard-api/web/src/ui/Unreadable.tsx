import { t } from "../words/t";

/** Says of something that another release wrote what the server cannot read of it; of anything else nothing. */
export function Unreadable({ why }: { why: string | undefined }) {
  if (!why) return null;
  return (
    <p>
      {t("Not all of this can be read by this release: it cannot be changed.")} <span className="muted">{why}</span>
    </p>
  );
}
