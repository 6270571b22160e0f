import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Megaphone } from "lucide-react";
import type { Incident } from "../api/incidents";
import { pagesApi, type StatusPage } from "../api/statusPages";
import { useMayEdit } from "../app/useSelf";
import { Menu, MenuItem } from "../ui/Menu";
import { t } from "../words/t";
import { readersOf } from "./readers";
import { useAffected } from "./useAffected";

/** The way to a post on a status page: those that show what is affected come first. */
export function TellReaders({ incident }: { incident: Incident }) {
  const mayEdit = useMayEdit();
  const pages = useQuery({ queryKey: ["status-pages"], queryFn: pagesApi.list, enabled: mayEdit, staleTime: 60_000 });
  const affected = useAffected(mayEdit ? incident : null);
  if (!mayEdit || !pages.data || pages.data.items.length === 0) return null;
  const { showing, others } = readersOf(pages.data.items, affected ?? []);
  return (
    <Menu label={t("Tell on a status page")} icon={<Megaphone size={15} aria-hidden />} worded>
      <Choices label={t("Pages that show what is affected")} pages={showing} incident={incident} />
      <Choices label={t("Other pages")} pages={others} incident={incident} />
    </Menu>
  );
}

function Choices({ label, pages, incident }: { label: string; pages: StatusPage[]; incident: Incident }) {
  const navigate = useNavigate();
  if (pages.length === 0) return null;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a group inside a menu
    <div role="group" aria-label={label}>
      <div className="menu-label" aria-hidden>
        {label}
      </div>
      {pages.map((page) => (
        <MenuItem
          key={page.id}
          onSelect={() =>
            void navigate({
              to: "/settings/pages/$id/posts/new",
              params: { id: String(page.id) },
              search: { incident: String(incident.id) },
            })
          }
        >
          {page.title}
        </MenuItem>
      ))}
    </div>
  );
}
