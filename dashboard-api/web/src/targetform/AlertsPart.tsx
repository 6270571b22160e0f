import { Link } from "@tanstack/react-router";
import { BellOff, BellRing, ExternalLink } from "lucide-react";
import { useId } from "react";
import type { Channel, MatchedRule } from "../api/alerts";
import { describeRule } from "../settings/rules";
import { useChannels, useMatchedRules } from "../settings/useAlerts";
import { ErrorNote } from "../ui/ErrorNote";
import { Rich } from "../words/Rich";
import { t } from "../words/t";

const SHOWN = 8;

/** Whom the target would tell, as it stands in the form. */
export default function AlertsPart({
  id,
  tags,
  openOn,
}: {
  /** Null: it is not there yet. */
  id: number | null;
  tags: readonly string[];
  /** From which state on its rule tells people. */
  openOn: "down" | "degraded";
}) {
  const heading = useId();
  const matched = useMatchedRules(id, tags);
  const channels = useChannels();
  const failed = [matched, channels].find((query) => query.error && !query.data);
  return (
    <section className="field" aria-labelledby={heading} aria-busy={matched.isPlaceholderData}>
      <h3 className="label" id={heading}>
        {t("Alerts")}
      </h3>
      {failed ? (
        <ErrorNote error={failed.error} onRetry={() => void failed.refetch()} />
      ) : matched.data && channels.data ? (
        <Told rules={matched.data.items} channels={channels.data.items} openOn={openOn} />
      ) : (
        <span className="skeleton" style={{ height: 60 }} />
      )}
      <p>
        <Link
          to="/settings/rules"
          search={{ add: "1" }}
          className="link"
          target="_blank"
          rel="noreferrer noopener" // what is in the form stays
        >
          {t("Add notification rule")} <ExternalLink size={13} aria-label={t("(opens a new tab)")} />
        </Link>
      </p>
    </section>
  );
}

function Told({
  rules,
  channels,
  openOn,
}: {
  rules: readonly MatchedRule[];
  channels: readonly Channel[];
  openOn: "down" | "degraded";
}) {
  if (rules.length === 0)
    return (
      <div className="banner warn">
        <BellOff size={16} aria-hidden />
        <p>
          <Rich
            text="Nobody is told when this target fails: no <a>notification rule</a> that is on speaks of it on a channel that is on."
            a={(inner) => <>{inner}</>} // the way to them is below
          />
        </p>
      </div>
    );
  const named = channels.map((one) => (one.enabled ? one : { ...one, name: t("{name} (off)", { name: one.name }) }));
  const tells = (what: "down" | "degraded") => rules.some((one) => one.tells.includes(what));
  return (
    <>
      <ul className="matched">
        {rules.slice(0, SHOWN).map(({ rule }) => (
          <li key={rule.id}>
            <BellRing size={15} aria-hidden />
            <div>
              <b>{rule.name}</b>
              <p className="muted">{describeRule(rule, named)}</p>
            </div>
          </li>
        ))}
        {rules.length > SHOWN && (
          <li className="muted">
            {t("{n, plural, one {and # more} other {and # more}}", { n: rules.length - SHOWN })}
          </li>
        )}
      </ul>
      {!tells("down") && <p className="hint">{t("None of them tells that it is down.")}</p>}
      {openOn === "down" ? (
        <p className="hint">
          {t("While it is only degraded nobody is told: see “{field}”.", { field: t("Tell people when it is") })}
        </p>
      ) : (
        !tells("degraded") && <p className="hint">{t("None of them tells that it is degraded.")}</p>
      )}
    </>
  );
}
