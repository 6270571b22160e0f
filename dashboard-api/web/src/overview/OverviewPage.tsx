import { useNavigate, useSearch } from "@tanstack/react-router";
import { Plus, Search, X } from "lucide-react";
import { lazy, Suspense, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { useKeys } from "../app/keys";
import { useList, useLive, useLiveError } from "../app/live";
import type { OverviewSearch, Sort } from "../app/router";
import { useActivity } from "../app/useActivity";
import { useRemove } from "../app/useRemove";
import { useMayEdit } from "../app/useSelf";
import { useTest } from "../app/useTest";
import { BAR_SLOTS } from "../live/history";
import type { TargetView } from "../live/store";
import { ErrorNote } from "../ui/ErrorNote";
import { ReSort } from "../ui/ReSort";
import { StoreNotices, useFleet } from "../ui/Stale";
import { stateWords } from "../ui/words";
import { t } from "../words/t";
import { headline, subline } from "./headline";
import { ListSkeleton } from "./ListSkeleton";
import { OpenIncidents } from "./OpenIncidents";
import { RegionFilter } from "./RegionFilter";
import { StateStrip } from "./StateStrip";
import { nothing, select } from "./selection";
import { TagFilter, tagsOf } from "./TagFilter";
import { TargetList } from "./TargetList";
import type { RowActions } from "./TargetRow";
import { useGroups } from "./useGroups";
import { useOrder } from "./useOrder";
import { useAhead, useTyped } from "./useWish";
import { Views } from "./Views";

const bulkBar = () => import("./BulkBar");
const BulkBar = lazy(bulkBar);
const states = () => import("./ListStates");
const FirstTarget = lazy(async () => ({ default: (await states()).FirstTarget }));
const NothingMatches = lazy(async () => ({ default: (await states()).NothingMatches }));
const TargetDialog = lazy(() => import("../targetform/TargetDialog"));

export function OverviewPage() {
  const list = useList();
  const live = useLive();
  const { store } = live;
  const error = useLiveError();
  const fleet = useFleet();
  const written = useSearch({ from: "/app/" });
  const [search, ahead] = useAhead(written);
  const navigate = useNavigate({ from: "/" });
  const input = useRef<HTMLInputElement>(null);
  const [dialog, setDialog] = useState<{ edit: TargetView | null } | null>(null);
  const [selection, setSelection] = useState(nothing);
  const mayEdit = useMayEdit();
  const test = useTest();
  const remove = useRemove();
  const toggle = useActivity();

  const change = useCallback(
    (next: OverviewSearch) => {
      ahead(next);
      void navigate({ search: (old) => ({ ...old, ...next }), replace: true });
    },
    [navigate, ahead],
  );
  const write = useCallback((text: string) => change({ q: text || undefined }), [change]);
  const { text, type, done } = useTyped(written.q ?? "", write);
  const clear = () => {
    type("");
    void navigate({ search: {}, replace: true });
  };
  const add = () => setDialog({ edit: null });
  useEffect(() => {
    if (!search.add) return;
    if (mayEdit) setDialog({ edit: null });
    change({ add: undefined });
  }, [search.add, change, mayEdit]);

  const tags = tagsOf(search.tag);
  const order = useOrder({ text, state: search.state, tags, region: search.region, sort: search.sort ?? "state" });
  // The first rows that come are those that a search of everything begins with.
  const everything =
    !text &&
    !search.state &&
    !search.region &&
    !search.group &&
    tags.length === 0 &&
    (search.sort ?? "state") === "state";
  const showing = list.ready || (list.begun && everything);
  const lines = useGroups(order.ids, search.group === "tag");
  const shown = useRef(lines);
  shown.current = lines;
  useKeys({
    "/": () => input.current?.focus(),
    ...(mayEdit ? { c: add } : {}),
    Escape: () => setSelection(nothing),
  });
  // Those that were deleted meanwhile are not selected any more.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the store changes with its version
  const selected = useMemo(() => {
    const there = [...selection.ids].filter((id) => store.get(id) !== undefined);
    return there.length === selection.ids.size ? selection.ids : new Set(there);
  }, [selection, store, list.version]);
  // Not of the first load: what comes after the rows, before anybody has looked for something or chosen one.
  // The bar is made then, too, and empty: the first choice of all is shown as fast as others.
  const [barMade, setBarMade] = useState(false);
  useEffect(() => {
    if (!list.ready) return;
    void Promise.all([states(), mayEdit ? bulkBar() : null]).then(
      () => setBarMade(mayEdit),
      () => undefined,
    );
  }, [list.ready, mayEdit]);
  // Once it was there the bar stays: it says how far it is when nothing is selected any more.
  const choosing = useRef(false);
  choosing.current ||= selected.size > 0;
  const actions = useMemo<RowActions>(
    () => ({
      onToggle: (target) => void toggle(target),
      onEdit: (target) => setDialog({ edit: target }),
      onDelete: remove,
      onTest: (target) => void test(target),
      onSelect: (id, range, group) => setSelection((old) => select(old, shown.current, id, range, group)),
    }),
    [toggle, remove, test],
  );

  return (
    <div className="page overview">
      <div className="page-head">
        <div>
          <h1>{list.begun ? headline(list.counts, list.total) : t("Overview")}</h1>
          <p className="muted">{list.begun ? subline(list.total, list.regions) : t("Loading the targets")}</p>
        </div>
        {mayEdit && (
          <button type="button" className="btn primary push" onClick={add}>
            <Plus size={16} aria-hidden /> {t("Add target")}
          </button>
        )}
      </div>
      <StoreNotices fleet={fleet.data} />
      <OpenIncidents />
      <StateStrip counts={list.counts} chosen={search.state} onChoose={(state) => change({ state })} />

      <div className="toolbar">
        <div className="search">
          <Search size={16} aria-hidden />
          <input
            ref={input}
            className="input"
            type="search"
            aria-label={t("Search targets by name, address or tag")}
            placeholder={t("Search")}
            value={text}
            onChange={(event) => type(event.target.value)}
            onBlur={done}
            onKeyDown={(event) => event.key === "Escape" && event.currentTarget.blur()}
          />
          <kbd>/</kbd>
        </div>
        <Views
          search={{
            q: text || undefined,
            state: search.state,
            sort: search.sort,
            tag: search.tag,
            region: search.region,
            group: search.group,
          }}
          onOpen={(view) => void navigate({ search: { ...view } })}
        />
        <div className="filters">
          <label className="sort">
            <span className="sr">{t("Sort by")}</span>
            <select
              className="input"
              value={search.sort ?? "state"}
              onChange={(event) => change({ sort: event.target.value as Sort })}
            >
              <option value="state">{t("Worst first")}</option>
              <option value="name">{t("By name")}</option>
              <option value="slow">{t("Slowest first")}</option>
            </select>
          </label>
          {(search.group || list.tags.size > 0) && (
            <label className="sort">
              <span className="sr">{t("Group by")}</span>
              <select
                className="input"
                value={search.group ?? ""}
                onChange={(event) => change({ group: event.target.value === "tag" ? "tag" : undefined })}
              >
                <option value="">{t("No groups")}</option>
                <option value="tag">{t("Group by tag")}</option>
              </select>
            </label>
          )}
          {search.state && (
            <button type="button" className="chip" onClick={() => change({ state: undefined })}>
              {stateWords[search.state]} <X size={14} aria-label={t("Clear the filter")} />
            </button>
          )}
          <TagFilter known={list.tags} chosen={tags} onChange={(next) => change({ tag: next.join() || undefined })} />
          <RegionFilter regions={list.regions} chosen={search.region} onChoose={(region) => change({ region })} />
          <ReSort n={order.pending} onSort={order.sortNow} />
        </div>
      </div>

      <section className="card list" data-look={!mayEdit || undefined} aria-label={t("Targets")}>
        {!showing && (error ? <ErrorNote error={error} onRetry={live.retry} /> : <ListSkeleton />)}
        <Suspense fallback={null}>
          {list.ready && list.total === 0 && <FirstTarget onAdd={mayEdit ? add : null} />}
          {list.ready && list.total > 0 && order.ids.length === 0 && (
            <NothingMatches search={{ ...search, q: text || undefined }} onClear={clear} />
          )}
        </Suspense>
        {showing && order.ids.length > 0 && (
          <>
            <div className="columns" aria-hidden>
              <span>{t("Target")}</span>
              <span>{t("{n, plural, one {Last # check} other {Last # checks}}", { n: BAR_SLOTS })}</span>
              <span>{t("Regions")}</span>
              <span>{t("Median")}</span>
              <span className="fig two cut">{t("Uptime 24 h, 30 d")}</span>
              <span className="fig cut">{t("Certificate")}</span>
            </div>
            <TargetList
              lines={lines}
              total={list.ready ? lines.lines.length : list.total}
              selected={selected}
              actions={mayEdit ? actions : null}
              onHold={order.onHold}
            />
          </>
        )}
      </section>
      {(barMade || choosing.current) && (
        <Suspense fallback={null}>
          <BulkBar
            ids={selected}
            matching={order.ids}
            onSelectAll={() => setSelection({ ids: new Set(order.ids), anchor: null })}
            onSelect={(ids) => setSelection({ ids, anchor: null })}
            onClear={() => setSelection(nothing)}
          />
        </Suspense>
      )}
      {dialog && (
        <Suspense fallback={null}>
          <TargetDialog editId={dialog.edit?.id ?? null} onClose={() => setDialog(null)} />
        </Suspense>
      )}
    </div>
  );
}
