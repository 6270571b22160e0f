import { useQuery } from "@tanstack/react-query";
import { Database } from "lucide-react";
import { api } from "../api/endpoints";
import type { Fleet } from "../api/types";
import { Rich } from "../words/Rich";
import { t } from "../words/t";
import { Ago } from "./time";

/** Something that may be a copy of an older answer, because ClickHouse does not answer now. */
interface MaybeCopy {
  stale_since?: string;
}

/** How soon to ask again: a copy is replaced soon after the store is back. */
export const untilFresh =
  (ms: number) =>
  (query: { state: { data?: MaybeCopy | undefined } }): number =>
    query.state.data?.stale_since ? Math.min(ms, 5_000) : ms;

/** Says of figures from a copy of when they are. */
export function CopyNote({ of }: { of: MaybeCopy | undefined }) {
  if (!of?.stale_since) return null;
  return (
    <span className="copy-note">
      <Database size={13} aria-hidden /> <Rich text="as of {ago}" ago={<Ago at={of.stale_since} />} />
    </span>
  );
}

export const FLEET_EVERY_MS = 5_000;

export function useFleet() {
  return useQuery({
    queryKey: ["fleet"],
    queryFn: api.fleet,
    refetchInterval: FLEET_EVERY_MS,
    refetchOnWindowFocus: true, // nothing is asked for while nobody looks
  });
}

/** Says which store does not answer, since when, and what that means for the page. */
export function StoreNotices({ fleet }: { fleet: Fleet | undefined }) {
  if (!fleet) return null;
  const spooled = [...fleet.regions, ...(fleet.outside ?? [])].reduce((n, region) => n + region.spooled, 0);
  const { down_since } = fleet.clickhouse;
  if (!fleet.stale_since && !down_since && spooled === 0) return null;
  return (
    <div className="banner warn">
      <Database size={17} aria-hidden className="s-degraded" />
      <div>
        {fleet.stale_since && (
          <p>
            <Rich
              text="Redis has not answered for {time}: no new result arrives, and targets turn to no data as their last ones age."
              time={<Ago at={fleet.stale_since} bare />}
            />
          </p>
        )}
        {down_since && (
          <p>
            <Rich
              text="ClickHouse has not answered for {time}: history is stale, live results go on."
              time={<Ago at={down_since} bare />}
            />
          </p>
        )}
        {spooled > 0 && (
          <p>
            {t(
              down_since
                ? "{n, plural, one {# result waits on disk and will be stored once ClickHouse answers.} other {# results wait on disk and will be stored once ClickHouse answers.}}"
                : "{n, plural, one {# result waits on disk and will be stored soon.} other {# results wait on disk and will be stored soon.}}",
              { n: spooled },
            )}
          </p>
        )}
      </div>
    </div>
  );
}
