import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { pagesApi, type StatusPage } from "../api/statusPages";
import { t } from "../words/t";

export const PAGES = "status-pages";

export const usePages = () => useQuery({ queryKey: [PAGES], queryFn: pagesApi.list });

/** The page that the address names. */
export function usePage() {
  const id = Number(useParams({ strict: false }).id);
  return useQuery({ queryKey: [PAGES, id], queryFn: () => pagesApi.get(id), staleTime: 0 });
}

/** Takes in a page as it was saved. */
export function usePageSaved(): (page: StatusPage) => void {
  const queries = useQueryClient();
  return (page) => {
    queries.setQueryData([PAGES, page.id], page);
    void queries.invalidateQueries({ queryKey: [PAGES], exact: true });
  };
}

export const pathOf = (page: Pick<StatusPage, "slug">): string => `/s/${page.slug}`;

/** What readers are given: the page's own host, if it has one. */
export const addressOf = (page: Pick<StatusPage, "slug" | "host">): string =>
  page.host ? `https://${page.host}/` : `${location.origin}${pathOf(page)}`;

/** Who can see a page. */
export function audience(page: Pick<StatusPage, "published" | "has_password" | "allow">): string {
  if (!page.published) return t("Draft: nobody sees it");
  if (page.has_password && page.allow.length > 0) return t("Published, by password and address");
  if (page.has_password) return t("Published, by password");
  return page.allow.length > 0 ? t("Published, for some addresses") : t("Published");
}
