import { Link, useRouterState } from "@tanstack/react-router";
import { TriangleAlert } from "lucide-react";
import { pastOf } from "../known/at";
import { Ago } from "../ui/time";
import { listed } from "../ui/words";
import { Rich } from "../words/Rich";
import { t } from "../words/t";
import { useList } from "./live";

/**
 * Names the regions that stopped reporting: their targets are not up, they are unknown. It leads to more about them. A page of
 * the past says nothing of now.
 */
export function SilentRegions() {
  const { regions } = useList();
  const past = useRouterState({ select: ({ matches }) => pastOf(matches) !== undefined });
  const silent = regions.filter((region) => !region.live);
  const [first, second] = silent;
  if (!first || past) return null;
  return (
    <Link to="/fleet" className="silent">
      <TriangleAlert size={14} aria-hidden />
      <span className="cut">
        {second ? (
          t("Silent: {regions}", { regions: listed(silent.map((region) => region.region)) })
        ) : (
          <Rich
            text={
              first.heartbeat_at
                ? "Region {name} stopped reporting {ago}. What it watches alone shows as no data."
                : "Region {name} stopped reporting. What it watches alone shows as no data."
            }
            name={<b>{first.region}</b>}
            ago={first.heartbeat_at ? <Ago at={first.heartbeat_at} /> : ""}
          />
        )}
      </span>
    </Link>
  );
}
