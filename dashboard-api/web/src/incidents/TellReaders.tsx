import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Megaphone } from "lucide-react";
import type { Incident } from "../api/incidents";
import { pagesApi } from "../api/statusPages";
import { useMayEdit } from "../app/useSelf";
import { behind } from "../statuspages/draft";
import { t } from "../words/t";

/** The way to a post on each status page that shows the target. */
export function TellReaders({ incident }: { incident: Incident }) {
  const mayEdit = useMayEdit();
  const pages = useQuery({ queryKey: ["status-pages"], queryFn: pagesApi.list, enabled: mayEdit, staleTime: 60_000 });
  if (!mayEdit) return null;
  const shown = pages.data?.items.filter((page) =>
    page.groups.some((group) => group.components.some((one) => behind(one).includes(incident.target_id))),
  );
  return shown?.map((page) => (
    <Link
      key={page.id}
      to="/settings/pages/$id/posts/new"
      params={{ id: String(page.id) }}
      search={{ incident: String(incident.id) }}
      className="btn"
    >
      <Megaphone size={15} aria-hidden /> {t("Tell readers of {page}", { page: page.title })}
    </Link>
  ));
}
