import { TriangleAlert } from "lucide-react";
import type { Region } from "../api/types";
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
            Region <b>{region.region}</b> stopped reporting
            {region.heartbeat_at && (
              <>
                {" "}
                <Ago at={region.heartbeat_at} />
              </>
            )}
            . What it watches alone shows as no data.
          </p>
        ))}
      </div>
    </div>
  );
}
