import type { Fleet } from "../api/types";
import { t } from "../words/t";

/** What is wrong with the name of a region to be; null: nothing. */
export function nameProblem(name: string): string | null {
  if (!/^[a-z0-9-]{1,32}$/.test(name)) return t("Only a–z, 0–9 and -, 32 at most.");
  if (name === "push" || name.startsWith("ext-")) return t("This name is kept for what is not probed here.");
  return null;
}

/** What to run there. It holds no secret: each is to be put in by whoever knows it. */
export const command = (region: string): string =>
  [
    "REDIS_URL=rediss://:PASSWORD@redis.example.org:6379/0 \\",
    "CLICKHOUSE_URL='clickhouse://probefleet:PASSWORD@clickhouse.example.org:9440/probefleet?secure=true' \\",
    "SECRET_KEY=THE-SAME-AS-AT-THE-CENTRE \\",
    `REGION=${region || "NAME"} \\`,
    "bin/prober",
  ].join("\n");

/** The probers of a region that live now. */
export function firstOf(fleet: Fleet, region: string): string[] {
  const found = fleet.regions.find((one) => one.region === region && one.live);
  return found && !fleet.stale_since ? (found.probers ?? []).filter((one) => one.age_s < 6).map((one) => one.name) : [];
}
