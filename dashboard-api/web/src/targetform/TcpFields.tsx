import type { Assertion } from "../api/spec";
import { t } from "../words/t";
import { keeps, Lines, ltr, onceSaved, Select, Tick } from "./controls";
import { Expect } from "./Expect";
import type { Errors } from "./form";
import type { TcpDraft } from "./terms";

/** What is said to a port, and how it is upgraded to TLS first. */
export function TcpFields({
  draft,
  errors,
  onChange,
  onExpect,
}: {
  draft: TcpDraft;
  errors: Errors;
  onChange: (change: Partial<TcpDraft>) => void;
  onExpect: (of: Assertion) => void;
}) {
  const writing = t("A line break is sent as CR LF. {lf} is LF alone, {tab} a tab, {backslash} a backslash.", {
    lf: ltr("\\n"),
    tab: ltr("\\t"),
    backslash: ltr("\\\\"),
  });
  return (
    <>
      <Select
        label={t("Upgrade to TLS (STARTTLS)")}
        error={errors["/tcp/starttls"]}
        value={draft.starttls}
        options={[
          ["", t("None")],
          ["smtp", "SMTP"],
          ["imap", "IMAP"],
          ["ftp", "FTP"],
        ]}
        onChange={(starttls) => onChange({ starttls })}
      />
      <Lines
        label={t("What is sent")}
        error={errors["/tcp/send"] ?? errors["/tcp/send_secret"]}
        hint={draft.secret ? `${writing} ${onceSaved()}` : writing}
        placeholder={draft.secret && draft.stored ? keeps() : undefined}
        value={draft.send}
        onChange={(send) => onChange({ send })}
      />
      <div className="chips">
        <Tick label={t("What is sent is secret")} on={draft.secret} onChange={(secret) => onChange({ secret })} />
      </div>
      <Expect onClick={() => onExpect({ source: "received", op: "contains" })} />
    </>
  );
}
