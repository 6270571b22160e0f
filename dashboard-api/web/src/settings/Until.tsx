import type { ReactNode } from "react";
import { useZone } from "../app/preferences";
import { absolute, useNow } from "../ui/time";
import { duration } from "../ui/words";
import { t } from "../words/t";

const useLeft = (at: string): number => (Date.parse(at) - useNow()) / 1000;

/** When something ends: "expires in 6 days", with the exact instant on hover. */
export function Until({ at }: { at: string }) {
  const left = useLeft(at);
  return <Instant at={at}>{left > 0 ? t("expires in {time}", { time: duration(left) }) : t("expired")}</Instant>;
}

/** The time that is left, for a sentence. */
export const Left = ({ at }: { at: string }) => <Instant at={at}>{duration(useLeft(at))}</Instant>;

function Instant({ at, children }: { at: string; children: ReactNode }) {
  const [zone] = useZone();
  return (
    <time dateTime={at} title={absolute(at, zone)}>
      {children}
    </time>
  );
}
