import type { Assertion } from "../api/spec";
import { t } from "../words/t";
import { Code, Lines } from "./controls";
import { Expect } from "./Expect";
import type { Errors } from "./form";
import { HeaderRows } from "./HeaderRows";
import type { WebSocketDraft } from "./terms";

const EXAMPLE = "graphql-transport-ws";

/** How a WebSocket is opened, and what is said on it. */
export function WebSocketFields({
  draft,
  errors,
  onChange,
  onExpect,
}: {
  draft: WebSocketDraft;
  errors: Errors;
  onChange: (change: Partial<WebSocketDraft>) => void;
  onExpect: (of: Assertion) => void;
}) {
  // The server points at the list or at one word of it: all are typed into one field.
  const offered = Object.entries(errors)
    .filter(([at]) => /^\/websocket\/subprotocols($|\/)/.test(at))
    .map(([, why]) => why);
  return (
    <>
      <Lines
        label={t("Message that is sent")}
        error={errors["/websocket/send"]}
        hint={t("One text message, once it is open. Empty: it is opened, pinged and closed.")}
        value={draft.send}
        onChange={(send) => onChange({ send })}
      />
      <Expect onClick={() => onExpect({ source: "received", op: "contains" })} />
      <HeaderRows
        at="/websocket/headers"
        rows={draft.headers}
        errors={errors}
        onChange={(headers) => onChange({ headers })}
      />
      <Code
        label={t("Subprotocols")}
        error={offered.join(" ") || undefined}
        hint={t("Offered in this order, separated by commas.")}
        placeholder={EXAMPLE}
        value={draft.subprotocols}
        onChange={(subprotocols) => onChange({ subprotocols })}
      />
    </>
  );
}
