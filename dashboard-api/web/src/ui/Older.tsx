import { t } from "../words/t";

/** What a query of pages says of its next one. */
interface Pages {
  hasNextPage: boolean;
  isFetchingNextPage: boolean;
  fetchNextPage: () => Promise<unknown>;
}

/** The way on at the end of a list that is read page by page; newest first, unless it says otherwise. */
export function Older({ of: pages, label = t("Show older") }: { of: Pages; label?: string }) {
  if (!pages.hasNextPage) return null;
  return (
    <div className="more">
      <button
        type="button"
        className="btn"
        disabled={pages.isFetchingNextPage}
        onClick={() => void pages.fetchNextPage()}
      >
        {pages.isFetchingNextPage ? t("Loading") : label}
      </button>
    </div>
  );
}
