import { useQuery, useQueryClient } from "@tanstack/react-query";
import { MailOpen } from "lucide-react";
import { useState } from "react";
import { accountApi, type Invitation } from "../api/accounts";
import { useToast } from "../app/toasts";
import { Confirm } from "../ui/Confirm";
import { ErrorNote } from "../ui/ErrorNote";
import { briefly } from "../ui/problems";
import { Ago } from "../ui/time";
import { Rich } from "../words/Rich";
import { t } from "../words/t";
import { actorName, useApiKeys, useMembers } from "./people";
import { Until } from "./Until";

const whom = (one: Invitation): string => one.email ?? t("Anybody with the link");

/** Invitations that can still be accepted. */
export function Invitations() {
  const members = useMembers();
  const keys = useApiKeys();
  const invitations = useQuery({ queryKey: ["invitations"], queryFn: accountApi.invitations });
  const [revoking, setRevoking] = useState<Invitation | null>(null);
  const open = invitations.data?.filter((one) => one.state === "open");
  return (
    <section className="card" aria-labelledby="invitations">
      <div className="card-head">
        <h2 id="invitations">{t("Open invitations")}</h2>
      </div>
      {invitations.error && !open && <ErrorNote error={invitations.error} onRetry={() => void invitations.refetch()} />}
      {!open && !invitations.error && <div className="skeleton chart-skeleton" />}
      {open?.length === 0 && (
        <p className="pad muted">
          {t(
            "None. An invitation is a link for one person, who makes an account with it; it is shown once, when it is made.",
          )}
        </p>
      )}
      {open && open.length > 0 && (
        <ul className="entries">
          {open.map((one) => (
            <li key={one.id} className="entry" data-invitation={one.id}>
              <MailOpen size={18} aria-hidden />
              <div>
                <b className="entry-name">{whom(one)}</b>
                <p className="muted">
                  <Rich
                    text="{role, select, owner {as an owner, by {actor} {ago}} editor {as an editor, by {actor} {ago}} other {as a viewer, by {actor} {ago}}}"
                    role={one.role}
                    actor={actorName(one.created_by, members.data ?? [], keys.data ?? [])}
                    ago={<Ago at={one.created_at} />}
                  />
                </p>
              </div>
              <span className="entry-state">
                <Until at={one.expires_at} />
              </span>
              <button type="button" className="btn" onClick={() => setRevoking(one)}>
                <Rich
                  text="Revoke<sr> the invitation of {whom}</sr>"
                  whom={whom(one)}
                  sr={(inner) => <span className="sr">{inner}</span>}
                />
              </button>
            </li>
          ))}
        </ul>
      )}
      {revoking && <Revoke invitation={revoking} onClose={() => setRevoking(null)} />}
    </section>
  );
}

function Revoke({ invitation, onClose }: { invitation: Invitation; onClose: () => void }) {
  const queries = useQueryClient();
  const toast = useToast();
  const revoke = async () => {
    try {
      await accountApi.revokeInvitation(invitation.id);
      toast({ text: t("The invitation is revoked: its link does nothing any more.") });
    } catch (error) {
      toast({ bad: true, text: t("The invitation was not revoked: {why}", { why: briefly(error) }) });
    }
    void queries.invalidateQueries({ queryKey: ["invitations"] });
  };
  return (
    <Confirm title={t("Revoke this invitation?")} act={t("Revoke it")} onAct={revoke} onClose={onClose}>
      {invitation.email
        ? t("The link that was sent to {email} does nothing any more. You can invite again at any time.", {
            email: invitation.email,
          })
        : t("The link that was sent does nothing any more. You can invite again at any time.")}
    </Confirm>
  );
}
