import { useQueryClient } from "@tanstack/react-query";
import { CircleUser, Ellipsis, ShieldCheck, UserCheck, UserMinus, UserPlus, UserRoundCog, UserX } from "lucide-react";
import { lazy, Suspense, useState } from "react";
import { accountApi, type Member } from "../api/accounts";
import { useKeys } from "../app/keys";
import { useToast } from "../app/toasts";
import { useSelf } from "../app/useSelf";
import { Confirm } from "../ui/Confirm";
import { ErrorNote } from "../ui/ErrorNote";
import { Menu, MenuItem } from "../ui/Menu";
import { briefly } from "../ui/problems";
import { Ago } from "../ui/time";
import { Invitations } from "./Invitations";
import { OwnersOnly } from "./OwnersOnly";
import { useMembers } from "./people";
import { RoleDialog } from "./RoleDialog";
import { nameOf, roleWords } from "./roles";
import { SettingsTabs } from "./SettingsTabs";
import "../styles/settings.css";
import "../styles/people.css";
import { Rich } from "../words/Rich";
import { t } from "../words/t";

const InviteDialog = lazy(() => import("./InviteDialog"));

/** Who may come in, and as what. */
export function PeoplePage() {
  const owner = useSelf()?.role === "owner";
  const [inviting, setInviting] = useState(false);
  const invite = () => setInviting(true);
  useKeys(owner ? { c: invite } : {});
  return (
    <div className="page">
      <div className="page-head">
        <div>
          <h1>{t("People")}</h1>
          <p className="muted">{t("Who may come in, and what each may do.")}</p>
        </div>
        {owner && (
          <button type="button" className="btn primary push" onClick={invite}>
            <UserPlus size={16} aria-hidden /> {t("Invite")}
          </button>
        )}
      </div>
      <SettingsTabs />
      <OwnersOnly>
        <Members onInvite={invite} />
        <Invitations />
      </OwnersOnly>
      {inviting && (
        <Suspense fallback={null}>
          <InviteDialog onClose={() => setInviting(false)} />
        </Suspense>
      )}
    </div>
  );
}

function Members({ onInvite }: { onInvite: () => void }) {
  const members = useMembers();
  const [changing, setChanging] = useState<Member | null>(null);
  const [removing, setRemoving] = useState<Member | null>(null);
  const [disabling, setDisabling] = useState<Member | null>(null);
  const enable = useEnable();
  const mayComeIn = (one: Member) => one.role === "owner" && !one.disabled_at;
  const owners = members.data?.filter(mayComeIn).length ?? 0;
  if (members.error && !members.data) return <ErrorNote error={members.error} onRetry={() => void members.refetch()} />;
  if (!members.data) return <div className="card skeleton people-skeleton holds" />;
  return (
    <>
      <ul className="card entries" aria-label={t("Users")}>
        {members.data.map((one) => (
          <MemberRow
            key={one.id}
            member={one}
            onlyOwner={mayComeIn(one) && owners === 1}
            onChange={() => setChanging(one)}
            onSwitch={() => (one.disabled_at ? void enable(one) : setDisabling(one))}
            onRemove={() => setRemoving(one)}
          />
        ))}
        {members.data.length === 1 && (
          <li className="entry-more muted">
            {t("You are alone here. With a second owner, nobody is locked out when one loses a phone or leaves.")}{" "}
            <button type="button" className="link plain" onClick={onInvite}>
              {t("Invite somebody")}
            </button>
          </li>
        )}
      </ul>
      {changing && <RoleDialog member={changing} onClose={() => setChanging(null)} />}
      {disabling && <Disable member={disabling} onClose={() => setDisabling(null)} />}
      {removing && <Remove member={removing} onClose={() => setRemoving(null)} />}
    </>
  );
}

function MemberRow({
  member,
  onlyOwner,
  onChange,
  onSwitch,
  onRemove,
}: {
  member: Member;
  onlyOwner: boolean;
  onChange: () => void;
  onSwitch: () => void;
  onRemove: () => void;
}) {
  const self = useSelf();
  const name = nameOf(member);
  return (
    <li className="entry" data-member={member.id}>
      <CircleUser size={20} aria-hidden />
      <div>
        <b className="entry-name">{name}</b>
        {member.id === self?.id && <span className="tag">{t("you")}</span>}
        {member.disabled_at && <span className="tag">{t("disabled")}</span>}
        <p className="muted">{member.email}</p>
        <p className="muted">
          {member.last_seen_at ? (
            <Rich text="seen {ago}" ago={<Ago at={member.last_seen_at} />} />
          ) : (
            t("signed in nowhere")
          )}
          {" · "}
          {member.second_factor ? (
            <span className="with-icon s-up">
              <ShieldCheck size={13} aria-hidden /> {t("second factor")}
            </span>
          ) : (
            t("password only")
          )}
        </p>
        {onlyOwner && <p className="muted">{t("The only owner: stays one until there is another.")}</p>}
      </div>
      <span className="entry-state">{roleWords[member.role]}</span>
      {onlyOwner ? (
        <span className="no-menu" />
      ) : (
        <Menu label={t("Actions for {name}", { name })} icon={<Ellipsis size={18} aria-hidden />}>
          <MenuItem icon={<UserRoundCog size={16} aria-hidden />} onSelect={onChange}>
            {t("Change role")}
          </MenuItem>
          {member.id !== self?.id && (
            <MenuItem
              icon={member.disabled_at ? <UserCheck size={16} aria-hidden /> : <UserX size={16} aria-hidden />}
              onSelect={onSwitch}
            >
              {member.disabled_at ? t("Enable") : t("Disable")}
            </MenuItem>
          )}
          <hr />
          <MenuItem icon={<UserMinus size={16} aria-hidden />} danger onSelect={onRemove}>
            {t("Remove")}
          </MenuItem>
        </Menu>
      )}
    </li>
  );
}

function useEnable() {
  const queries = useQueryClient();
  const toast = useToast();
  return async (member: Member) => {
    const name = nameOf(member);
    try {
      await accountApi.disableUser(member, false);
      toast({ text: t("{name} is enabled.", { name }) });
    } catch (error) {
      toast({ bad: true, text: t("{name} was not enabled: {why}", { name, why: briefly(error) }) });
    }
    void queries.invalidateQueries({ queryKey: ["members"] });
  };
}

function Disable({ member, onClose }: { member: Member; onClose: () => void }) {
  const queries = useQueryClient();
  const toast = useToast();
  const name = nameOf(member);
  const disable = async () => {
    try {
      await accountApi.disableUser(member, true);
      toast({ text: t("{name} is disabled.", { name }) });
    } catch (error) {
      toast({ bad: true, text: t("{name} was not disabled: {why}", { name, why: briefly(error) }) });
    }
    void queries.invalidateQueries({ queryKey: ["members"] });
    void queries.invalidateQueries({ queryKey: ["invitations"] });
  };
  return (
    <Confirm
      title={t("Disable {name}?", { name })}
      act={t("Disable {name}", { name })}
      keep={t("Keep {name}", { name })}
      consequences={[
        t("{name} is signed out everywhere, and cannot sign in in any way.", { name }),
        t("API keys of {name} are refused, with those they made.", { name }),
        t("Invitations for {name}, or by {name}, are withdrawn.", { name }),
      ]}
      onAct={disable}
      onClose={onClose}
    >
      {t("You can enable the account again. What happens at once:")}
    </Confirm>
  );
}

function Remove({ member, onClose }: { member: Member; onClose: () => void }) {
  const queries = useQueryClient();
  const toast = useToast();
  const self = useSelf();
  const name = nameOf(member);
  const own = member.id === self?.id;
  const remove = async () => {
    try {
      await accountApi.removeUser(member);
      if (own) return location.assign("/login"); // a full load forgets everything that was shown
      toast({ text: t("{name} is removed.", { name }) });
    } catch (error) {
      toast({ bad: true, text: t("{name} was not removed: {why}", { name, why: briefly(error) }) });
    }
    void queries.invalidateQueries({ queryKey: ["members"] });
    void queries.invalidateQueries({ queryKey: ["keys"] });
  };
  return (
    <Confirm
      title={own ? t("Remove your own account?") : t("Remove {name}?", { name })}
      act={own ? t("Remove my account") : t("Remove {name}", { name })}
      keep={own ? t("Keep it") : t("Keep {name}", { name })}
      consequences={[
        own
          ? t("You are signed out everywhere, and cannot sign in again.")
          : t("{name} is signed out everywhere, and cannot sign in again.", { name }),
        own
          ? t("API keys of yours end, with those they made: programs that use them are refused.")
          : t("API keys of {name} end, with those they made: programs that use them are refused.", { name }),
        t("Targets, incidents, notes and the audit log stay as they are."),
      ]}
      onAct={remove}
      onClose={onClose}
    >
      {t("This cannot be undone. What happens at once:")}
    </Confirm>
  );
}
