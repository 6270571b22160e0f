import { useQuery } from "@tanstack/react-query";
import { Ellipsis, KeyRound, Pencil, Plus, Trash2 } from "lucide-react";
import { lazy, Suspense, useState } from "react";
import { browserHasPasskeys, useWays } from "../account/passkeys";
import { accountApi, type Passkey } from "../api/accounts";
import { ErrorNote } from "../ui/ErrorNote";
import { Menu, MenuItem } from "../ui/Menu";
import { Ago } from "../ui/time";
import { Rich } from "../words/Rich";
import { t } from "../words/t";

const RegisterDialog = lazy(() => import("./PasskeyDialogs").then((m) => ({ default: m.RegisterDialog })));
const RenameDialog = lazy(() => import("./PasskeyDialogs").then((m) => ({ default: m.RenameDialog })));
const RemoveDialog = lazy(() => import("./PasskeyDialogs").then((m) => ({ default: m.RemoveDialog })));

type Open = "register" | { rename: Passkey } | { remove: Passkey } | null;

/** What I sign in with in place of the password and the code. */
export function PasskeysCard() {
  const passkeys = useQuery({ queryKey: ["passkeys"], queryFn: accountApi.passkeys });
  const ways = useWays();
  const [open, setOpen] = useState<Open>(null);
  const all = passkeys.data?.items;
  const close = () => setOpen(null);
  return (
    <section className="card" aria-labelledby="passkeys">
      <div className="card-head">
        <h2 id="passkeys">{t("Passkeys")}</h2>
        <button
          type="button"
          className="btn push"
          disabled={!all || !ways?.passkeys || !browserHasPasskeys()}
          onClick={() => setOpen("register")}
        >
          <Plus size={15} aria-hidden /> {t("Register a passkey")}
        </button>
      </div>
      {passkeys.error && !all && <ErrorNote error={passkeys.error} onRetry={() => void passkeys.refetch()} />}
      {!all && !passkeys.error && <div className="skeleton factor-skeleton" />}
      {all && (
        <p className="pad muted">
          {t(
            "With a passkey, this device or your password manager signs you in by a finger, a face or a number: without the password and without a code.",
          )}
          {ways && <Hindrance possible={ways.passkeys} />}
        </p>
      )}
      {all && all.length > 0 && (
        <ul className="entries" aria-label={t("Passkeys")}>
          {all.map((one) => (
            <PasskeyRow
              key={one.id}
              of={one}
              onRename={() => setOpen({ rename: one })}
              onRemove={() => setOpen({ remove: one })}
            />
          ))}
        </ul>
      )}
      <Suspense fallback={null}>
        {open === "register" && <RegisterDialog onClose={close} />}
        {open && typeof open === "object" && "rename" in open && <RenameDialog of={open.rename} onClose={close} />}
        {open && typeof open === "object" && "remove" in open && <RemoveDialog of={open.remove} onClose={close} />}
      </Suspense>
    </section>
  );
}

/** Why none can be registered. */
function Hindrance({ possible }: { possible: boolean }) {
  if (!possible) return <b> {t("There are none here before the operator sets an https:// address with a name.")}</b>;
  return browserHasPasskeys() ? null : <b> {t("This browser has none, or is too old for them.")}</b>;
}

function PasskeyRow({ of: passkey, onRename, onRemove }: { of: Passkey; onRename: () => void; onRemove: () => void }) {
  return (
    <li className="entry" data-passkey={passkey.id} data-off={passkey.blocked_at !== null || undefined}>
      <KeyRound size={18} aria-hidden />
      <div>
        <b className="entry-name">{passkey.name}</b>
        <p className="muted">
          <Rich text="registered {ago}" ago={<Ago at={passkey.created_at} />} />
          {" · "}
          {passkey.last_used_at ? (
            <Rich text="last used {ago}" ago={<Ago at={passkey.last_used_at} />} />
          ) : (
            t("never used")
          )}
        </p>
        {passkey.blocked_at && (
          <p className="problem">
            <Rich
              text="Blocked {ago}: it was used in a way that only a copy of it could be, so it signs nobody in any more. Remove it."
              ago={<Ago at={passkey.blocked_at} />}
            />
          </p>
        )}
      </div>
      <span className="entry-state">{passkey.blocked_at ? t("blocked") : ""}</span>
      <Menu label={t("Actions for {name}", { name: passkey.name })} icon={<Ellipsis size={18} aria-hidden />}>
        <MenuItem icon={<Pencil size={16} aria-hidden />} onSelect={onRename}>
          {t("Rename")}
        </MenuItem>
        <hr />
        <MenuItem icon={<Trash2 size={16} aria-hidden />} danger onSelect={onRemove}>
          {t("Remove")}
        </MenuItem>
      </Menu>
    </li>
  );
}
