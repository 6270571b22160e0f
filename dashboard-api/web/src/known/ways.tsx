import { Link, useNavigate } from "@tanstack/react-router";
import { t } from "../words/t";
import { AsKnownAt } from "./AsKnownAt";
import "../styles/known.css";

/** Goes to another instant of a target, or back to the present. */
export function useTargetAt(id: number): (at: string | undefined) => void {
  const navigate = useNavigate();
  return (at) =>
    void navigate({ to: "/targets/$id", params: { id: String(id) }, search: at ? { at } : {}, resetScroll: false });
}

export function usePageAt(id: number): (at: string | undefined) => void {
  const navigate = useNavigate();
  return (at) =>
    void navigate({
      to: "/settings/pages/$id",
      params: { id: String(id) },
      search: at ? { at } : {},
      resetScroll: false,
    });
}

export function AskTarget({ id }: { id: number }) {
  return <AsKnownAt at={undefined} onAt={useTargetAt(id)} />;
}

export function AskPage({ id }: { id: number }) {
  return <AsKnownAt at={undefined} onAt={usePageAt(id)} />;
}

/** From something that happened to the target as it was known then. */
export function KnownThen({ target, at }: { target: number; at: string }) {
  if (target <= 0) return null;
  return (
    <Link to="/targets/$id" params={{ id: String(target) }} search={{ at }} className="link known-then">
      {t("as known then")}
    </Link>
  );
}
