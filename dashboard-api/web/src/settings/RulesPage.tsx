import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { BellOff, BellRing, Ellipsis, Pencil, Plus, Trash2 } from "lucide-react";
import { lazy, Suspense, useEffect, useState } from "react";
import { type AlertRule, alertApi } from "../api/alerts";
import { useKeys } from "../app/keys";
import { useToast } from "../app/toasts";
import { useMayEdit } from "../app/useSelf";
import { ErrorNote } from "../ui/ErrorNote";
import { Menu, MenuItem } from "../ui/Menu";
import { briefly } from "../ui/problems";
import { Unreadable } from "../ui/Unreadable";
import { describeRule } from "./rules";
import { SettingsTabs } from "./SettingsTabs";
import { useChannels } from "./useAlerts";
import { useDeleteLater, useHidden } from "./useLater";
import "../styles/settings.css";
import { t } from "../words/t";

const RuleDialog = lazy(() => import("./RuleDialog"));

/** Which incidents are told to whom. */
export function RulesPage() {
  const rules = useQuery({ queryKey: ["rules"], queryFn: alertApi.rules });
  const channels = useChannels();
  const queries = useQueryClient();
  const toast = useToast();
  const mayEdit = useMayEdit();
  const hidden = useHidden("rules");
  const remove = useDeleteLater("rules", alertApi.deleteRule);
  const [dialog, setDialog] = useState<{ rule: AlertRule | null } | null>(null);
  const noChannels = channels.data?.items.length === 0;
  const add = () => !noChannels && setDialog({ rule: null });
  const navigate = useNavigate();
  const asked = useSearch({ from: "/app/settings/rules" }).add;
  const known = channels.isSuccess;
  useEffect(() => {
    if (!asked || !known) return;
    if (mayEdit && !noChannels) setDialog({ rule: null });
    void navigate({ to: "/settings/rules", replace: true });
  }, [asked, known, noChannels, mayEdit, navigate]);
  useKeys(mayEdit ? { c: add } : {});
  const toggle = useMutation({
    mutationFn: (rule: AlertRule) => alertApi.updateRule(rule.id, { enabled: !rule.enabled }, rule.version),
    onSuccess: (saved) => {
      void queries.invalidateQueries({ queryKey: ["rules"] });
      toast({
        text: saved.enabled
          ? t("{name} is on.", { name: saved.name })
          : t("{name} is off: it tells nobody.", { name: saved.name }),
      });
    },
    onError: (error, rule) =>
      toast({ bad: true, text: t("{name} was not changed: {why}", { name: rule.name, why: briefly(error) }) }),
  });
  const items = rules.data?.items.filter((one) => !hidden.has(one.id));
  const error = rules.error ?? channels.error;
  return (
    <div className="page">
      <div className="page-head">
        <div>
          <h1>{t("Notification rules")}</h1>
          <p className="muted">{t("Which incidents are told to whom, and when.")}</p>
        </div>
        {mayEdit && (
          <button type="button" className="btn primary push" disabled={noChannels} onClick={add}>
            <Plus size={16} aria-hidden /> {t("Add rule")}
          </button>
        )}
      </div>
      <SettingsTabs />
      {error && !(rules.data && channels.data) && (
        <ErrorNote
          error={error}
          onRetry={() => {
            void rules.refetch();
            void channels.refetch();
          }}
        />
      )}
      {(rules.isPending || channels.isPending) && !error && <div className="skeleton page-skeleton" />}
      {items?.length === 0 && channels.data && (
        <div className="card empty">
          <BellRing size={28} aria-hidden className="muted" />
          <h2>{t("Nobody is told of incidents")}</h2>
          {noChannels ? (
            <>
              <p>{t("A rule tells somebody on a channel. There is none yet.")}</p>
              {mayEdit && (
                <div className="actions">
                  <Link to="/settings/channels" className="btn primary">
                    {t("Add a channel first")}
                  </Link>
                </div>
              )}
            </>
          ) : (
            <>
              <p>{t("Start with one that tells everything to everybody, then add those who are woken.")}</p>
              {mayEdit && (
                <div className="actions">
                  <button type="button" className="btn primary" onClick={add}>
                    <Plus size={16} aria-hidden /> {t("Add rule")}
                  </button>
                </div>
              )}
            </>
          )}
        </div>
      )}
      {items && items.length > 0 && channels.data && (
        <ul className="card entries" aria-label={t("Notification rules")}>
          {items.map((rule) => (
            <li key={rule.id} className="entry" data-off={!rule.enabled || undefined}>
              {rule.enabled ? <BellRing size={18} aria-hidden /> : <BellOff size={18} aria-hidden />}
              <div>
                {mayEdit && !rule.unreadable ? (
                  <button type="button" className="entry-link" onClick={() => setDialog({ rule })}>
                    {rule.name}
                  </button>
                ) : (
                  <b>{rule.name}</b>
                )}
                <p className="muted">{describeRule(rule, channels.data.items)}</p>
                <Unreadable why={rule.unreadable} />
              </div>
              <span className="entry-state">{rule.enabled ? t("On") : t("Off")}</span>
              {mayEdit && (
                <Menu label={t("Actions for {name}", { name: rule.name })} icon={<Ellipsis size={18} aria-hidden />}>
                  {!rule.unreadable && (
                    <>
                      <MenuItem icon={<Pencil size={16} aria-hidden />} onSelect={() => setDialog({ rule })}>
                        {t("Edit")}
                      </MenuItem>
                      <MenuItem
                        icon={rule.enabled ? <BellOff size={16} aria-hidden /> : <BellRing size={16} aria-hidden />}
                        onSelect={() => toggle.mutate(rule)}
                      >
                        {rule.enabled ? t("Turn off") : t("Turn on")}
                      </MenuItem>
                      <hr />
                    </>
                  )}
                  <MenuItem icon={<Trash2 size={16} aria-hidden />} danger onSelect={() => remove(rule)}>
                    {t("Delete")}
                  </MenuItem>
                </Menu>
              )}
            </li>
          ))}
        </ul>
      )}
      {dialog && channels.data && (
        <Suspense fallback={null}>
          <RuleDialog rule={dialog.rule} channels={channels.data.items} onClose={() => setDialog(null)} />
        </Suspense>
      )}
    </div>
  );
}
