import { useZone } from "../app/preferences";
import { absolute, useNow } from "../ui/time";
import { duration } from "../ui/words";

/** When something ends: "expires in 6 days", with the exact instant on hover. */
export function Until({ at }: { at: string }) {
  const now = useNow();
  const [zone] = useZone();
  const left = (Date.parse(at) - now) / 1000;
  return (
    <time dateTime={at} title={absolute(at, zone)}>
      {left > 0 ? `expires in ${duration(left)}` : "expired"}
    </time>
  );
}
