import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { api } from "../api/endpoints";
import { useLive } from "../app/live";
import type { Range } from "../app/router";
import { untilFresh } from "../ui/Stale";
import { count, latency } from "../ui/words";
import { t } from "../words/t";
import columns from "./columns.json";
import { FigureCard } from "./FigureCard";
import { quantileBucket, trimmed } from "./figures";
import { spanSeconds } from "./phases";
import { share } from "./words";
import { asked as spanOf, type Zoom } from "./zoom";

const HEIGHT = 120;

/** How many checks took how long. */
export function HistogramCard({
  id,
  range,
  zoom,
  regions,
  region: asked,
  onRegion,
}: {
  id: number;
  range: Range;
  zoom: Zoom | null;
  regions: readonly string[];
  /** The one that is looked at; "": all. */
  region: string;
  onRegion: (region: string) => void;
}) {
  const { store } = useLive();
  const region = regions.includes(asked) ? asked : "";
  const histogram = useQuery({
    queryKey: ["histogram", id, range, region, zoom],
    queryFn: () => {
      if (zoom) return api.histogram(id, spanOf(zoom), region);
      const to = store.serverNow();
      return api.histogram(
        id,
        { from: new Date(to - spanSeconds[range] * 1000).toISOString(), to: new Date(to).toISOString() },
        region,
      );
    },
    refetchInterval: (query) => untilFresh(query.state.data?.count ? 60_000 : 15_000)(query),
    placeholderData: keepPreviousData,
  });
  const { data } = histogram;
  const buckets = useMemo(() => (data ? trimmed(data) : []), [data]);
  const most = Math.max(1, ...buckets.map((bucket) => bucket.count));
  const half = quantileBucket(buckets, 0.5);
  const nearly = quantileBucket(buckets, 0.95);
  const summary =
    !data || data.count === 0
      ? t("No check of this range has a response time.")
      : t("{n, plural, one {# check} other {# checks}}: half took less than {half}, 95 of 100 less than {nearly}.", {
          n: data.count,
          half: latency(buckets[half]?.to_us),
          nearly: latency(buckets[nearly]?.to_us),
        });
  const numbers = data && {
    head: [t("From ms"), t("To ms"), t("Checks"), t("Share of checks")],
    columns: columns.histogram,
    rows: buckets.map((b) => [b.from_us / 1000, b.to_us / 1000, b.count, share(b.count / Math.max(1, data.count), 1)]),
  };
  return (
    <FigureCard
      title={t("How long checks take")}
      file={`target-${id}-histogram.csv`}
      summary={summary}
      numbers={numbers ?? null}
      query={histogram}
      tools={
        regions.length > 1 && (
          <label>
            <span className="sr">{t("Region of the histogram")}</span>
            <select className="input" value={region} onChange={(event) => onRegion(event.target.value)}>
              <option value="">{t("All regions")}</option>
              {regions.map((one) => (
                <option key={one} value={one}>
                  {one}
                </option>
              ))}
            </select>
          </label>
        )
      }
    >
      <div className="histogram" role="img" aria-label={summary}>
        <svg viewBox={`0 0 ${buckets.length * 10} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden>
          {buckets.map((bucket, i) => {
            const height = bucket.count === 0 ? 0 : Math.max(2, (bucket.count / most) * HEIGHT);
            return (
              <rect
                key={bucket.from_us}
                x={i * 10 + 0.5}
                y={HEIGHT - height}
                width={9}
                height={height}
                className={i > nearly ? "h-slow" : "h-bar"}
              >
                <title>
                  {t("{from} to {to}: {n}", {
                    from: latency(bucket.from_us),
                    to: latency(bucket.to_us),
                    n: count(bucket.count),
                  })}
                </title>
              </rect>
            );
          })}
        </svg>
        <div className="row spread muted" dir="ltr">
          <span dir="auto">{latency(buckets[0]?.from_us)}</span>
          <span dir="auto">{t("each bar is 19 % slower than the one before")}</span>
          <span dir="auto">{latency(buckets.at(-1)?.to_us)}</span>
        </div>
      </div>
    </FigureCard>
  );
}
