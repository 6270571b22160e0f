import { useRouterState } from "@tanstack/react-router";
import { History, Radio, RefreshCw, Timer } from "lucide-react";
import { pastOf, readable } from "../known/at";
import { absolute, useNow } from "../ui/time";
import { duration } from "../ui/words";
import { t } from "../words/t";
import { useLink, useLive } from "./live";
import { useZone } from "./preferences";

/** How the page is kept current, or of when it is. Says the age of what is shown as soon as it is not live. */
export function ConnectionPill() {
  const at = useRouterState({ select: ({ matches }) => pastOf(matches) });
  return at === undefined ? <Present /> : <Past at={at} />;
}

function Past({ at }: { at: string }) {
  const [zone] = useZone();
  const whole = readable(at) ? t("As known at {at}: not live.", { at: absolute(at, zone) }) : t("Not live");
  return (
    <span className="pill past" data-link="past" title={whole}>
      <History size={14} aria-hidden />
      <span className="cut">{readable(at) ? t("As known at {at}", { at: absolute(at, zone) }) : t("Not live")}</span>
    </span>
  );
}

function Present() {
  const link = useLink();
  const live = useLive();
  if (link.kind === "live" || link.kind === "connecting") {
    const stream = link.kind === "live" && link.via === "stream";
    const word = link.kind === "live" ? t("Live") : t("Connecting");
    const title = stream
      ? t("Changes arrive as they happen, as an event stream: websockets do not get through here")
      : t("Changes arrive as they happen");
    return (
      <span className={`pill ${link.kind}`} data-link={link.kind} data-via={stream ? "stream" : "socket"} title={title}>
        <Radio size={14} aria-hidden /> {word}
        {stream && <span className="age">{t("SSE")}</span>}
      </span>
    );
  }
  const polling = link.kind === "polling";
  return (
    <button
      type="button"
      className={`pill ${link.kind}`}
      data-link={link.kind}
      title={
        polling
          ? t("The live connection is cut: asking every 10 s. Click to try now.")
          : t("Cut off. Click to try now.")
      }
      onClick={live.retry}
    >
      {polling ? <Timer size={14} aria-hidden /> : <RefreshCw size={14} aria-hidden className="turning" />}
      {polling ? t("Polling") : t("Reconnecting")} <Age since={polling ? link.polledAt : link.since} />
    </button>
  );
}

function Age({ since }: { since: number }) {
  const now = useNow();
  return <span className="age">{duration((now - since) / 1000)}</span>;
}
