import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { Plus, Wrench } from "lucide-react";
import { lazy, Suspense, useEffect, useState } from "react";
import { type MaintenanceWindow, maintenanceApi } from "../api/maintenance";
import { useKeys } from "../app/keys";
import { useToast } from "../app/toasts";
import { useMayEdit } from "../app/useSelf";
import { IncidentTabs } from "../incidents/IncidentTabs";
import { AsOfNote, useAsOf } from "../ui/AsOf";
import { Confirm } from "../ui/Confirm";
import { ErrorNote } from "../ui/ErrorNote";
import { briefly } from "../ui/problems";
import { t } from "../words/t";
import { WindowList } from "./WindowList";
import "../styles/incidents.css";
import "../styles/maintenance.css";

const EVERY_MS = 30_000;

const WindowDialog = lazy(() => import("./WindowDialog"));

/** Those of which it cannot be read are first. */
const begins = (one: MaintenanceWindow) => (one.next_from ? Date.parse(one.next_from) : 0);

/** When targets are maintained: no incident is opened then, and uptime leaves it out. */
export function MaintenancePage() {
  const queries = useQueryClient();
  const toast = useToast();
  const mayEdit = useMayEdit();
  const [dialog, setDialog] = useState<{ window: MaintenanceWindow | null } | null>(null);
  const [ending, setEnding] = useState<MaintenanceWindow | null>(null);
  const [hidden, setHidden] = useState<ReadonlySet<number>>(new Set());
  const list = useInfiniteQuery({
    queryKey: ["maintenance"],
    queryFn: ({ pageParam }) => maintenanceApi.list(pageParam),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next_cursor,
    refetchInterval: EVERY_MS,
    refetchOnWindowFocus: true,
  });
  const asOf = useAsOf(list, EVERY_MS);
  useEffect(() => {
    if (list.hasNextPage && !list.isFetchingNextPage) void list.fetchNextPage(); // there are 500 at most
  }, [list]);
  useKeys(mayEdit ? { c: () => setDialog({ window: null }) } : {});

  const remove = async (one: MaintenanceWindow, done: string, keepalive = false) => {
    try {
      await maintenanceApi.remove(one.id, one.version, keepalive);
      if (done) toast({ text: done });
    } catch (error) {
      toast({ bad: true, text: t("{name} was not changed: {why}", { name: one.name, why: briefly(error) }) });
      setHidden((old) => new Set([...old].filter((id) => id !== one.id)));
    }
    void queries.invalidateQueries({ queryKey: ["maintenance"] });
  };
  const take = (one: MaintenanceWindow) => {
    if (one.begun) return setEnding(one);
    setHidden((old) => new Set(old).add(one.id));
    toast({
      text: t("{name} removed.", { name: one.name }),
      action: { label: t("Undo"), run: () => setHidden((old) => new Set([...old].filter((id) => id !== one.id))) },
      onExpire: () => remove(one, "", true),
    });
  };

  const acts = mayEdit ? { onEdit: (one: MaintenanceWindow) => setDialog({ window: one }), onRemove: take } : null;
  const all = (list.data?.pages.flatMap((page) => page.items) ?? []).filter((one) => !hidden.has(one.id));
  const going = all.filter((one) => !one.ended_at);
  const now = going.filter((one) => one.active);
  const next = going
    .filter((one) => !one.active && (one.next_from !== null || one.unreadable))
    .sort((a, b) => begins(a) - begins(b));
  const past = all.filter((one) => one.ended_at || !(one.active || one.next_from || one.unreadable)).reverse();
  return (
    <div className="page">
      <div className="page-head">
        <div>
          <h1>{t("Maintenance")}</h1>
          <p className="muted">
            {t("No incident is opened meanwhile, and uptime leaves the time out.")} <AsOfNote at={asOf} />
          </p>
        </div>
        {mayEdit && (
          <button type="button" className="btn primary push" onClick={() => setDialog({ window: null })}>
            <Plus size={16} aria-hidden /> {t("Plan maintenance")}
          </button>
        )}
      </div>
      <IncidentTabs />
      {list.error && !list.data && <ErrorNote error={list.error} onRetry={() => void list.refetch()} />}
      {list.isPending && <div className="skeleton page-skeleton" />}
      {list.data && all.length === 0 && (
        <div className="card empty">
          <Wrench size={28} aria-hidden className="muted" />
          <h2>{t("Nothing is planned")}</h2>
          <p>{t("Say when targets are worked on, once or again and again: nobody is woken by what was expected.")}</p>
          {mayEdit && (
            <div className="actions">
              <button type="button" className="btn primary" onClick={() => setDialog({ window: null })}>
                <Plus size={16} aria-hidden /> {t("Plan maintenance")}
              </button>
            </div>
          )}
        </div>
      )}
      <WindowList kind="now" title={t("Now")} windows={now} acts={acts} />
      <WindowList kind="upcoming" title={t("Upcoming")} windows={next} acts={acts} />
      <WindowList kind="past" title={t("Past")} windows={past} acts={null} />
      {dialog && (
        <Suspense fallback={null}>
          <WindowDialog window={dialog.window} onClose={() => setDialog(null)} />
        </Suspense>
      )}
      {ending && (
        <Confirm
          title={t("End {name}?", { name: ending.name })}
          act={t("End it")}
          onClose={() => setEnding(null)}
          onAct={() => remove(ending, t("{name} ended.", { name: ending.name }))}
        >
          {t(
            ending.active
              ? "Its targets are watched again at once. What it covered stays covered. This cannot be undone."
              : "It does not come again. What it covered stays covered. This cannot be undone.",
          )}
        </Confirm>
      )}
    </div>
  );
}
