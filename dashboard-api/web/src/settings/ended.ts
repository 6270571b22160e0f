import type { EndedWithPassword } from "../api/accounts";
import { t } from "../words/t";

/** What ended with a password beside sessions, a sentence for each kind; nothing of what there was none. */
export function endedWords({ keys_ended: keys, invitations_withdrawn: invitations }: EndedWithPassword): string[] {
  const said: string[] = [];
  if (keys > 0) {
    said.push(
      t(
        "{n, plural, one {# API key has ended: its program needs another.} other {# API keys have ended: their programs need others.}}",
        { n: keys },
      ),
    );
  }
  if (invitations > 0) {
    said.push(
      t("{n, plural, one {# invitation is withdrawn.} other {# invitations are withdrawn.}}", { n: invitations }),
    );
  }
  return said;
}
