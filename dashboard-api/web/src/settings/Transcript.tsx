import type { ChannelTest } from "../api/alerts";
import { StateIcon } from "../ui/StateIcon";
import { plural } from "../ui/words";

/** What a test sent and what was answered, without secrets. */
export function Transcript({ test }: { test: ChannelTest }) {
  return (
    <section className="card" aria-labelledby="transcript" data-transcript>
      <div className="card-head">
        <StateIcon state={test.delivered ? "up" : "down"} size={20} />
        <div>
          <h2 id="transcript">{test.delivered ? "The test was delivered" : "The test was not delivered"}</h2>
          <p className="muted">
            {test.reason && `${test.reason}. `}
            {plural(test.exchanges.length, "exchange")}, {test.took_ms} ms
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
              <section tabIndex={0} aria-label="Sent" className="transcript">
                <pre>{one.sent}</pre>
              </section>
            )}
            <p className="muted">
              {one.status > 0 ? `Answered ${one.status}` : "No answer"} after {one.took_ms} ms
            </p>
            {one.answer && (
              // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
              <section tabIndex={0} aria-label="Answer" className="transcript">
                <pre>{one.answer}</pre>
              </section>
            )}
          </li>
        ))}
      </ol>
    </section>
  );
}
