import { Link } from "@tanstack/react-router";
import { TriangleAlert } from "lucide-react";
import type { Region } from "../api/live.gen";
import { Ago } from "../ui/time";
import { listed } from "../ui/words";
import { Rich } from "../words/Rich";
import { t } from "../words/t";

/** Names the regions that stopped reporting, and leads to more about them. */
export default function SilentNotice({ silent }: { silent: readonly Region[] }) {
  const [first, second] = silent;
  if (!first) return null;
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
