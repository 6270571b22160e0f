import { useQuery, useQueryClient } from "@tanstack/react-query";
import { MailOpen } from "lucide-react";
import { useState } from "react";
import { accountApi, type Invitation } from "../api/accounts";
import { useToast } from "../app/toasts";
import { Confirm } from "../ui/Confirm";
import { ErrorNote } from "../ui/ErrorNote";
import { briefly } from "../ui/problems";
import { Ago } from "../ui/time";
import { actorName, useApiKeys, useMembers } from "./people";
import { aRole } from "./roles";
import { Until } from "./Until";

const whom = (one: Invitation): string => one.email ?? "Anybody with the link";

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
        <h2 id="invitations">Open invitations</h2>
      </div>
      {invitations.error && !open && <ErrorNote error={invitations.error} onRetry={() => void invitations.refetch()} />}
      {!open && !invitations.error && <div className="skeleton chart-skeleton" />}
      {open?.length === 0 && (
        <p className="pad muted">
          None. An invitation is a link for one person, who makes an account with it; it is shown once, when it is made.
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
                  as {aRole(one.role)}, by {actorName(one.created_by, members.data ?? [], keys.data ?? [])}{" "}
                  <Ago at={one.created_at} />
                </p>
              </div>
              <span className="entry-state">
                <Until at={one.expires_at} />
              </span>
              <button type="button" className="btn" onClick={() => setRevoking(one)}>
                Revoke<span className="sr"> the invitation of {whom(one)}</span>
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
      toast({ text: "The invitation is revoked: its link does nothing any more." });
    } catch (error) {
      toast({ bad: true, text: `The invitation was not revoked: ${briefly(error)}` });
    }
    void queries.invalidateQueries({ queryKey: ["invitations"] });
  };
  return (
    <Confirm title="Revoke this invitation?" act="Revoke it" onAct={revoke} onClose={onClose}>
      {`The link that was sent${invitation.email ? ` to ${invitation.email}` : ""} does nothing any more. You can invite again at any time.`}
    </Confirm>
  );
}
