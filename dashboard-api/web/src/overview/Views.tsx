import { Bookmark, BookmarkPlus, X } from "lucide-react";
import { type FormEvent, useState } from "react";
import { useToast } from "../app/toasts";
import { Dialog } from "../ui/Dialog";
import { Field } from "../ui/Field";
import { Menu, MenuItem } from "../ui/Menu";
import { useViews, type View } from "./views";
import "../styles/dialog.css";
import { Rich } from "../words/Rich";
import { t } from "../words/t";

/** Filters and orders that were given a name. */
export function Views({ search, onOpen }: { search: View["search"]; onOpen: (search: View["search"]) => void }) {
  const { views, save, remove } = useViews();
  const toast = useToast();
  const [naming, setNaming] = useState(false);
  const forget = (view: View) => {
    remove(view.name);
    toast({
      text: t("View {name} removed.", { name: view.name }),
      action: { label: t("Undo"), run: () => save(view) },
    });
  };
  return (
    <>
      <Menu label={t("Saved views")} icon={<Bookmark size={17} aria-hidden />}>
        {views.length === 0 && <div className="menu-label">{t("No saved view yet")}</div>}
        {views.map((view) => (
          <MenuItem key={view.name} onSelect={() => onOpen(view.search)}>
            <span className="cut">{view.name}</span>
          </MenuItem>
        ))}
        <hr />
        <MenuItem icon={<BookmarkPlus size={16} aria-hidden />} onSelect={() => setNaming(true)}>
          {t("Save this filter and order")}
        </MenuItem>
        {views.length > 0 && <hr />}
        {views.map((view) => (
          <MenuItem key={view.name} icon={<X size={16} aria-hidden />} danger onSelect={() => forget(view)}>
            <Rich text="Remove {name}" name={<span className="cut">{view.name}</span>} />
          </MenuItem>
        ))}
      </Menu>
      {naming && (
        <NameDialog
          onClose={() => setNaming(false)}
          onSave={(name) => {
            save({ name, search });
            toast({ text: t("View {name} saved in this browser.", { name }) });
          }}
        />
      )}
    </>
  );
}

function NameDialog({ onSave, onClose }: { onSave: (name: string) => void; onClose: () => void }) {
  const [name, setName] = useState("");
  const [missing, setMissing] = useState(false);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (name.trim() === "") return setMissing(true);
    onSave(name.trim());
    onClose();
  };
  return (
    <Dialog title={t("Save this view")} onClose={onClose}>
      <form onSubmit={submit} noValidate>
        <div className="dialog-body">
          <Field label={t("Name")} error={missing ? t("Give it a name.") : undefined} hint={t("Kept in this browser.")}>
            {(bound) => (
              <input
                {...bound}
                className="input"
                maxLength={60}
                autoComplete="off"
                value={name}
                onChange={(event) => setName(event.target.value)}
              />
            )}
          </Field>
        </div>
        <div className="dialog-foot">
          <button type="button" className="btn" onClick={onClose}>
            {t("Cancel")}
          </button>
          <button type="submit" className="btn primary">
            {t("Save")}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
