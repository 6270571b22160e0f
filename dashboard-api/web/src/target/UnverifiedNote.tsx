import { useQuery } from "@tanstack/react-query";
import { api } from "../api/endpoints";
import type { TargetView } from "../live/store";
import { Unverified } from "../ui/Unverified";

/** Says of a target that its certificate is taken as it is: what is up may be anybody. */
export function UnverifiedNote({ target }: { target: Pick<TargetView, "id" | "kind"> }) {
  const { data } = useQuery({
    queryKey: ["terms", target.id],
    queryFn: () => api.target(target.id),
    enabled: target.kind !== "heartbeat" && target.kind !== "icmp", // these know no certificates
  });
  return data?.tls?.skip_verify ? <Unverified /> : null;
}
