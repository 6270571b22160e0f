import { Bookmark, BookmarkPlus, X } from "lucide-react";
import { type FormEvent, useState } from "react";
import { useToast } from "../app/toasts";
import { Dialog } from "../ui/Dialog";
import { Field } from "../ui/Field";
import { Menu, MenuItem } from "../ui/Menu";
import { useViews, type View } from "./views";
import "../styles/dialog.css";

/** Filters and orders that were given a name. */
export function Views({ search, onOpen }: { search: View["search"]; onOpen: (search: View["search"]) => void }) {
  const { views, save, remove } = useViews();
  const toast = useToast();
  const [naming, setNaming] = useState(false);
  const forget = (view: View) => {
    remove(view.name);
    toast({ text: `View ${view.name} removed.`, action: { label: "Undo", run: () => save(view) } });
  };
  return (
    <>
      <Menu label="Saved views" icon={<Bookmark size={17} aria-hidden />}>
        {views.length === 0 && <div className="menu-label">No saved view yet</div>}
        {views.map((view) => (
          <MenuItem key={view.name} onSelect={() => onOpen(view.search)}>
            <span className="cut">{view.name}</span>
          </MenuItem>
        ))}
        <hr />
        <MenuItem icon={<BookmarkPlus size={16} aria-hidden />} onSelect={() => setNaming(true)}>
          Save this filter and order
        </MenuItem>
        {views.length > 0 && <hr />}
        {views.map((view) => (
          <MenuItem key={view.name} icon={<X size={16} aria-hidden />} danger onSelect={() => forget(view)}>
            Remove <span className="cut">{view.name}</span>
          </MenuItem>
        ))}
      </Menu>
      {naming && (
        <NameDialog
          onClose={() => setNaming(false)}
          onSave={(name) => {
            save({ name, search });
            toast({ text: `View ${name} saved in this browser.` });
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
    <Dialog title="Save this view" onClose={onClose}>
      <form onSubmit={submit} noValidate>
        <div className="dialog-body">
          <Field label="Name" error={missing ? "Give it a name." : undefined} hint="Kept in this browser.">
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
            Cancel
          </button>
          <button type="submit" className="btn primary">
            Save
          </button>
        </div>
      </form>
    </Dialog>
  );
}
