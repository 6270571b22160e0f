import type { ChannelTest } from "../api/alerts";
import { StateIcon } from "../ui/StateIcon";
import { t } from "../words/t";

/** What a test sent and what was answered, without secrets. */
export function Transcript({ test }: { test: ChannelTest }) {
  return (
    <section className="card" aria-labelledby="transcript" data-transcript>
      <div className="card-head">
        <StateIcon state={test.delivered ? "up" : "down"} size={20} />
        <div>
          <h2 id="transcript">{test.delivered ? t("The test was delivered") : t("The test was not delivered")}</h2>
          <p className="muted">
            {test.reason && `${test.reason}. `}
            {t("{n, plural, one {# exchange} other {# exchanges}}, {ms} ms", {
              n: test.exchanges.length,
              ms: test.took_ms,
            })}
          </p>
        </div>
      </div>
      <ol className="exchanges">
        {test.exchanges.map((one, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a transcript does not change
          <li key={i}>
            <h3>
              <code>{one.request}</code>
            </h3>
            {one.sent && (
              // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
              <section tabIndex={0} aria-label={t("Sent")} className="transcript">
                <pre>{one.sent}</pre>
              </section>
            )}
            <p className="muted">
              {one.status > 0
                ? t("Answered {status} after {ms} ms", { status: one.status, ms: one.took_ms })
                : t("No answer after {ms} ms", { ms: one.took_ms })}
            </p>
            {one.answer && (
              // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
              <section tabIndex={0} aria-label={t("Answer")} className="transcript">
                <pre>{one.answer}</pre>
              </section>
            )}
          </li>
        ))}
      </ol>
    </section>
  );
}
