import { TriangleAlert } from "lucide-react";
import type { Region } from "../api/types";
import { Rich } from "../words/Rich";
import { Ago } from "./time";

/** Names the regions that stopped reporting: their targets are not up, they are unknown. */
export function SilentRegions({ regions }: { regions: readonly Region[] }) {
  const silent = regions.filter((region) => !region.live);
  if (silent.length === 0) return null;
  return (
    <div className="banner warn">
      <TriangleAlert size={17} aria-hidden className="s-degraded" />
      <div>
        {silent.map((region) => (
          <p key={region.region}>
            <Rich
              text={
                region.heartbeat_at
                  ? "Region {name} stopped reporting {ago}. What it watches alone shows as no data."
                  : "Region {name} stopped reporting. What it watches alone shows as no data."
              }
              name={<b>{region.region}</b>}
              ago={region.heartbeat_at ? <Ago at={region.heartbeat_at} /> : ""}
            />
          </p>
        ))}
      </div>
    </div>
  );
}
